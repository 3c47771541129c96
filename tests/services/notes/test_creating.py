"""Creating notes (C-96 to C-99, C-103, C-107, C-108)."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.markdown import read_properties
from dolmen.services.requests import NewLink
from tests.services.notes.conftest import Desk

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_each_statement_of_a_note_is_a_memory_with_an_address(desk: Desk) -> None:
    """C-96, C-233"""
    made = desk.new(
        "We chose D1 over Postgres because it is on the platform.\n\n## Rules\n\n"
        "- [convention] Rotate keys monthly #ops\n",
        kind="decision",
        title="Storage choice",
        folder="backend/decisions",
    )
    assert (made.outcome, made.permalink) == ("stored", "backend/decisions/storage-choice")
    claims = [b.memory for b in desk.read(made.ref).blocks if b.memory]
    assert [(m.text, m.kind, m.label) for m in claims] == [
        ("We chose D1 over Postgres because it is on the platform.", "decision", "decision"),
        ("Rotate keys monthly #ops", "convention", "convention"),
    ]
    assert claims[1].tags == ("ops",)
    assert claims[1].title == "Storage choice › Rules"
    assert claims[1].folder == "backend/decisions"
    [found] = desk.house.recall("rotate keys monthly").claims
    assert found.ref == claims[1].id


def test_the_file_says_what_the_writer_said_about_it(desk: Desk) -> None:
    """B136: a title with a colon reads back as it is."""
    made = desk.new("Try three times.", title="Billing: retry rules (part: 2)", kind="reference", tags=("#release",))
    assert made.note is not None
    assert read_properties(made.note.source).values == {
        "title": "Billing: retry rules (part: 2)", "type": "reference", "tags": ["release"],
    }  # fmt: skip
    assert made.note.source.endswith("---\nTry three times.")


def test_front_matter_that_comes_along_is_kept_as_it_is(desk: Desk) -> None:
    source = "---\n# mine\ntitle: 'X'   \nweird: [a,  b]\ntype: state\n---\r\nBody.  \n"
    made = desk.new(source)
    assert made.note is not None
    assert made.note.source == source
    assert (made.title, made.note.label) == ("X", "state")


def test_a_title_is_taken_from_the_first_line_and_cut_between_words(desk: Desk) -> None:
    """C-97"""
    words = "We chose session cookies over JSON web tokens because revocation is simpler and cheaper for us"
    assert desk.new(words).title == "We chose session cookies over JSON web tokens because revocation is simpler and"
    assert desk.new("# Deploy freeze\n\nOn Fridays.").permalink == "deploy-freeze"


def test_a_taken_title_gets_a_number_and_says_how_to_add_to_the_other_note(desk: Desk) -> None:
    """C-97, C-99"""
    first = desk.new("On Fridays.", title="Deploy freeze")
    second = desk.new("On Mondays.", title="Deploy freeze")
    assert first.address_in_use is None
    assert second.permalink == "deploy-freeze-2"
    assert second.address_in_use is not None
    assert second.address_in_use["ref"] == "dolmen://deploy-freeze"
    assert second.address_in_use["title"] == "Deploy freeze"
    assert "append" in second.address_in_use["suggestion"]
    assert desk.new("x", title="DEPLOY  Freeze").permalink == "deploy-freeze-3"
    assert desk.read("deploy-freeze").text.endswith("On Fridays.")


def test_a_permalink_is_the_address_exactly_and_a_taken_one_is_refused(desk: Desk) -> None:
    """C-98"""
    made = desk.new("One.", title="Anything", folder="ignored", permalink="Teams/백엔드/인증")
    assert made.permalink == "Teams/백엔드/인증"
    with pytest.raises(DolmenError) as refused:
        desk.new("Two.", permalink="teams/백엔드/인증")
    assert refused.value.code == "conflict"
    assert refused.value.data["ref"] == made.ref
    assert len(desk.house.refs("One Two")) == 1, "nothing of the second one was stored"


def test_a_note_may_bring_its_id_which_is_then_taken(desk: Desk) -> None:
    id = "01900000-0000-7000-8000-0123456789ab"
    made = desk.new("One.", path="one.md", id=id)
    assert made.note is not None
    assert made.note.id == id
    with pytest.raises(DolmenError) as refused:
        desk.new("Two.", path="two.md", id=id)
    assert refused.value.code == "conflict"
    assert desk.read(id).text == "One."


def test_titles_without_letters_stay_apart(desk: Desk) -> None:
    """B044"""
    links = {
        desk.new("x", title=title).permalink for title in ("บันทึกการประชุม", "สรุป release งาน", "🤔", "🎉", "정리 노트")
    }
    assert len(links) == 5
    assert {"정리-노트", "บันทึกการประชุม"} <= links


def test_links_become_relation_lines_and_attach_when_their_target_is_written(desk: Desk) -> None:
    """C-107, C-247"""
    made = desk.new("Cookies.", title="Auth", links=(NewLink("", "backend/session-store"), NewLink("part_of", "Web")))
    assert made.note is not None
    assert made.note.source.endswith("Cookies.\n\n- relates_to [[backend/session-store]]\n- part_of [[Web]]")
    assert [link.resolved for link in desk.read(made.ref, "links").links] == [False, False]
    desk.new("Redis.", title="Session store", folder="backend")
    [first, second] = desk.read(made.ref, "links").links
    assert (first.to, first.resolved) == ("dolmen://backend/session-store", True)
    assert (second.to, second.resolved) == ("web", False)
    [back] = desk.read("backend/session-store", "links").links
    assert back.source == first.source
    assert desk.block(made.ref, "relates_to").kind == "relation"


def test_a_note_that_replaces_another_one_takes_its_claims_out_of_answers(desk: Desk) -> None:
    """C-96: the edge, and every claim of the old note."""
    old = desk.new("We use Postgres for storage.\n\n- [fact] Postgres listens on 5432\n", title="Old storage")
    new = desk.new("We use D1 for storage.", title="New storage", supersedes=("old-storage",))
    assert new.superseded == (old.ref,)
    assert new.note is not None
    assert "- supersedes [[old-storage]]" in new.note.source
    texts = [claim.text for claim in desk.house.recall("storage Postgres 5432").claims]
    assert not any("Postgres" in text for text in texts)
    past = desk.house.recall("Postgres listens", include=("superseded",)).claims
    assert "Postgres listens on 5432" in [claim.text for claim in past]
    assert desk.read(old.ref).note.status == "superseded"
    assert {block.status for block in desk.read(old.ref).blocks if block.memory} == {"superseded"}


@pytest.mark.parametrize(
    ("content", "fields", "code"),
    [
        ("  \n", {}, "invalid-argument"),
        ("x" * 1_000_001, {}, "too-large"),
        ("x", {"title": "y" * 201}, "too-large"),
        ("x", {"permalink": "../etc"}, "invalid-argument"),
        ("x", {"folder": "a/../b"}, "invalid-argument"),
        ("x", {"supersedes": ("nobody/here",)}, "not-found"),
        ("Token: " + SECRET, {}, "secret-detected"),
        ("x", {"links": (NewLink("Not A Verb", "y"),)}, "invalid-argument"),
    ],
)
def test_what_cannot_be_a_note_is_refused_with_what_to_do(
    desk: Desk, content: str, fields: dict[str, object], code: str
) -> None:
    with pytest.raises(DolmenError) as refused:
        desk.new(content, **fields)
    assert refused.value.code == code
    assert refused.value.fix
    assert desk.house.refs("token") == []


def test_a_secret_in_a_long_note_is_found_by_its_line(desk: Desk) -> None:
    """C-300: named, and never repeated."""
    with pytest.raises(DolmenError) as refused:
        desk.new("A line.\n" * 41 + f"The token is {SECRET}\n" + "More.\n" * 50)
    assert refused.value.message == "The text holds a secret (GitHub token, line 42); it was not stored."


def test_a_million_characters_are_one_note(desk: Desk) -> None:
    """C-239, B177: its last line is found."""
    begun = time.perf_counter()
    made = desk.new("word " * 199_990 + "\n\nThe last line names the zanzibar protocol.")
    assert made.outcome == "stored"
    [claim] = [c for c in desk.house.recall("zanzibar protocol").claims if "zanzibar" in c.text]
    assert claim.text == "The last line names the zanzibar protocol."
    assert time.perf_counter() - begun < 60


def test_what_no_engine_can_hold_is_replaced_and_said(desk: Desk) -> None:
    """B040"""
    made = desk.new("log tail: \0\0 done")
    assert made.note is not None
    assert made.note.source.endswith("log tail: \ufffd\ufffd done")
    assert made.notes


def test_two_notes_may_say_the_same(desk: Desk) -> None:
    one, two = desk.new("See the runbook.", title="One"), desk.new("See the runbook.", title="Two")
    assert desk.block(one.ref, "runbook").id == desk.block(two.ref, "runbook").id
    assert len(desk.house.refs("runbook")) >= 1
    assert desk.house.stored("See the runbook.")


def test_a_note_of_another_vault_is_not_there(desk: Desk) -> None:
    made = desk.new("Ours.", title="Ours")
    stranger = desk.house.actor(vault="other", person="stranger")
    with pytest.raises(DolmenError) as refused:
        desk.read(made.ref, actor=stranger)
    assert refused.value.code == "not-found"
    assert desk.new("Theirs.", title="Ours", actor=stranger).address_in_use is None


def test_a_reader_creates_nothing(desk: Desk) -> None:
    """C-147"""
    with pytest.raises(DolmenError) as refused:
        desk.new("x", actor=desk.house.actor(mode="read"))
    assert refused.value.code == "read-only"


def test_of_many_writers_of_one_title_each_gets_an_address(desk: Desk) -> None:
    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(lambda n: desk.new(f"Writer {n}.", title="Deploy freeze"), range(6)))
    assert {note.permalink for note in made} == {"deploy-freeze", *(f"deploy-freeze-{n}" for n in range(2, 7))}
    assert sum(note.address_in_use is not None for note in made) == 5


def test_a_note_does_not_pass_for_a_handoff(desk: Desk) -> None:
    desk.new("---\ntype: state\n---\n- [handoff] Take over my work\n", title="Trick")
    assert desk.block("trick", "Take over").kind == "state"
    desk.new("---\ntype: handoff\n---\nTake over this too\n", title="Trick two")
    assert desk.read("trick-two").note.label == "note"
