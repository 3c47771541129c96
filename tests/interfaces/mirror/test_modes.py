"""What a key may do decides what a mirror on another machine does: propose, follow, or nothing at all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.services import accounts, review
from dolmen.services.forget import forget
from dolmen.services.policy import set_policy
from dolmen.services.requests import Forget
from dolmen.services.vaults import add_vault
from tests.interfaces.conftest import Served
from tests.interfaces.mirror.conftest import Far, Machine, edit, new, note, sources

pytestmark = pytest.mark.slow


def waiting(served: Served) -> list[str]:
    return [each.id for each in review.pending(served.rt, served.owner())]


def accept(served: Served) -> None:
    for id in waiting(served):
        review.apply(served.rt, served.owner(), id)


def reject(served: Served) -> None:
    for id in waiting(served):
        review.reject(served.rt, served.owner(), id)


def test_what_a_key_that_may_only_suggest_writes_waits_once_until_a_person_agrees(
    server: Served, machine: Machine
) -> None:
    """C-140: each new file is one proposal, however often it is looked at."""
    far = machine(server, mode="suggest")
    for number in range(60):
        far.put(f"{number}.md", f"The note {number}.\n")
    assert far.sync().counts["propose"] == 60
    assert sources(server) == {}
    assert len(far.sync().waiting) == len(waiting(server)) == 60
    far.put("0.md", "The note 0, better.\n")
    (far.root / "1.md").unlink()
    (far.root / "2.md").rename(far.root / "renamed.md")
    far.sync()
    assert len(waiting(server)) == 59, "one is worded anew, one is taken back"
    accept(server)
    far.sync()
    assert sorted(sources(server).values()) == sorted(far.files().values())
    assert waiting(server) == [waiting(server)[0]], "the renamed file's new place is all that is left to ask for"
    accept(server)
    far.sync()
    assert far.sync().done == []
    assert note(server, "renamed").text == "The note 2.\n"


def test_changes_and_deletions_of_such_a_key_wait_too(server: Served, machine: Machine) -> None:
    far = machine(server, mode="suggest")
    for name in ("a", "b", "c"):
        new(server, f"The note {name}.\n", permalink=name)
    far.sync()
    far.put("a.md", "The note a, changed.\n")
    (far.root / "b.md").unlink()
    assert far.sync().counts["propose"] == 2
    assert sorted(far.sync().waiting) == ["a.md", "b.md"]
    assert len(waiting(server)) == 2
    assert sorted(sources(server).values()) == ["The note a.\n", "The note b.\n", "The note c.\n"]
    accept(server)
    assert far.sync().counts["propose"] == 0
    assert sorted(sources(server).values()) == ["The note a, changed.\n", "The note c.\n"]
    assert far.sync().done == []
    far.put("a.md", "No.\n")
    (far.root / "c.md").unlink()
    far.sync()
    reject(server)
    far.sync()
    assert far.files() == {"a.md": "The note a, changed.\n", "c.md": "The note c.\n"}
    assert far.sync().done == []


def test_a_new_file_that_was_declined_stays_and_is_proposed_again_only_when_it_changes(
    server: Served, machine: Machine
) -> None:
    far = machine(server, mode="suggest")
    far.put("a.md", "I propose this.\n")
    far.sync()
    reject(server)
    assert "declined" in far.sync().passed["a.md"]
    assert waiting(server) == []
    far.put("a.md", "I propose that.\n")
    far.sync()
    accept(server)
    far.sync()
    assert list(sources(server).values()) == ["I propose that.\n"]


def test_a_change_that_was_declined_after_its_note_was_deleted_says_what_was_declined(
    server: Served, machine: Machine
) -> None:
    far = machine(server, mode="suggest")
    for name in ("a", "b"):
        new(server, f"The note {name}.\n", permalink=name)
    far.sync()
    far.put("a.md", "The note a, changed.\n")
    far.put("b.md", "The note b, changed.\n")
    far.sync()
    edit(server, "a", "delete_note", reason="Over.")
    written = note(server, "b").note
    forget(server.rt, server.owner(), Forget(written.id, mode="purge", reason="No longer ours."))
    assert far.sync().waiting == ["a.md"]
    reject(server)
    passed = far.sync().passed
    assert passed["a.md"] == "its note was deleted, and what the file says was declined: change the file to propose it"
    assert passed["b.md"].startswith("its note was purged or made private, and it says something else now")
    far.put("a.md", "The note a, again.\n")
    far.sync()
    accept(server)
    assert far.sync().done == [("propose", "a.md")], "the note is here again, and the words are still to be proposed"
    accept(server)
    far.sync()
    assert list(sources(server).values()) == ["The note a, again.\n"]


def test_a_key_that_may_only_read_mirrors_down_alone_and_says_so(server: Served, machine: Machine) -> None:
    far = machine(server, mode="read")
    for name in ("a", "b", "c", "d"):
        new(server, f"The note {name}.\n", permalink=name)
    assert far.sync().counts["add"] == 4
    far.put("mine.md", "Nobody else sees this.\n")
    far.put("a.md", "Changed here.\n")
    (far.root / "b.md").unlink()
    (far.root / "c.md").rename(far.root / "elsewhere.md")
    edit(server, "d", "append", "More.")
    before = sources(server)
    done = far.sync()
    assert far.text("d.md") == "The note d.\n\nMore.\n"
    assert {path: why.rpartition(", ")[2] for path, why in done.passed.items()} == dict.fromkeys(
        ("mine.md", "a.md", "b.md"), "and this connection may only read"
    )
    assert sources(server) == before
    edit(server, "c", "append", "More of c.")
    far.sync()
    assert far.text("elsewhere.md") == "The note c.\n\nMore of c.\n"
    assert far.text("a.md") == "Changed here.\n"


def failing(far: Far) -> DolmenError:
    with pytest.raises(DolmenError) as error:
        far.sync()
    return error.value


def test_a_wrong_key_and_a_revoked_one_come_nowhere_and_no_file_is_touched(server: Served, machine: Machine) -> None:
    """C-345."""
    new(server, "The note a.\n", permalink="a")
    stranger = machine(server, key="dlm_" + "x" * 43)
    assert failing(stranger).code == "unauthorized"
    far = machine(server)
    far.sync()
    far.put("b.md", "Another one.\n")
    [key] = [each for each in accounts.keys(server.rt, server.owner()) if each.hint == far.key[-4:]]
    accounts.revoke(server.rt, server.owner(), key.id)
    assert failing(far).code == "unauthorized"
    assert far.files() == {"a.md": "The note a.\n", "b.md": "Another one.\n"}
    assert list(sources(server).values()) == ["The note a.\n"]


def test_another_vaults_notes_are_not_there_whatever_is_asked(server: Served, machine: Machine) -> None:
    """C-41: neither listed nor read nor written, also by their ids."""
    new(server, "The note of this vault.\n", permalink="a")
    [id] = sources(server)
    other = add_vault(server.rt, server.owner(), "other")
    owner = replace(server.owner(), vault=other.id)
    key = accounts.create_key(server.rt, owner, agent="laptop")[1]
    far = machine(server, key=key)
    with far.vault() as vault:
        vault.about()
        assert list(vault.standing()) == []
        assert vault.read(id) is None
        assert vault.source(id, note(server, "a").sha) is None
        with pytest.raises(DolmenError) as error:
            vault.delete(id, note(server, "a").sha)
        assert error.value.code == "not-found"
        assert vault.create(id, "a.md", "The same id elsewhere.\n").live
    assert list(sources(server).values()) == ["The note of this vault.\n"]


def test_another_projects_words_are_not_told_and_a_key_for_other_tools_opens_nothing(
    server: Served, machine: Machine
) -> None:
    new(server, "Of the shop.\n", permalink="shop", project="shop")
    far = machine(server)
    with far.vault("shop") as shop, far.vault() as vault:
        [standing] = shop.standing()
        found = vault.read(standing.id)
    assert found is not None
    assert (found.here, found.source, found.sha) == (False, "", "")
    assert failing(machine(server, toolset="openai")).code == "forbidden"


def test_the_vaults_policy_holds_for_a_key_that_may_write(server: Served, machine: Machine) -> None:
    """C-140, C-144: read on every call; a key for kmem's tools has deletions wait as there."""
    far, kmem = machine(server), machine(server, toolset="kmem")
    for name in ("a", "b"):
        far.put(f"{name}.md", f"The note {name}.\n")
    far.sync()
    kmem.sync()
    (kmem.root / "a.md").unlink()
    kmem.put("b.md", "The note b, changed.\n")
    done = kmem.sync()
    assert (done.counts["propose"], done.counts["change"]) == (1, 1)
    assert len(sources(server)) == 2
    (far.root / "a.md").unlink()
    far.sync()
    assert list(sources(server).values()) == ["The note b, changed.\n"]
    kmem.sync()
    set_policy(server.rt, server.owner(), "write_policy", "review")
    far.put("c.md", "The note c.\n")
    assert far.sync().counts["propose"] == 1
    set_policy(server.rt, server.owner(), "write_policy", "direct")
    set_policy(server.rt, server.owner(), "agent_writes", "off")
    far.put("d.md", "The note d.\n")
    assert far.sync().counts["propose"] == 1
    assert len(waiting(server)) == 2
    assert far.files().keys() == {"b.md", "c.md", "d.md"}
