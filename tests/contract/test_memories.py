"""`contract.Memories`."""

from __future__ import annotations

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import Case, Memory, Revision
from dolmen.domain.text import content_key
from dolmen.domain.values import SECOND
from dolmen.store.contract import Feedback, RecallEvent
from tests.contract.given import START, Desk, add, by, change, link, proposal, texts, unit


def full(desk: Desk) -> Memory:
    """A memory with nothing left at its default."""
    return desk.memory(
        "포트는 7077이다 🎉",
        scope="project:github.com/ada/app",
        kind="decision",
        status="proposed",
        trust="external",
        verification="stale",
        label="resolution",
        title="Port",
        folder="net/ports",
        tags=("b", "a", 'with "quotes", commas\\', ""),
        importance=0.1 + 0.2,
        pinned=True,
        agent="codex",
        person="o",
        connection="c1",
        session="s1",
        source="https://example.org/?a=b:c%20d",
        case=Case("case-1", "goal", "outcome", "resolution", "phase"),
        attrs={"next_steps": ["a", {"b": None}], "n": 0.1, "한글": True},
        created_at=START - 5,
        updated_at=START + 5,
        expires_at=START + 100,
        supersedes="old",
        superseded_by="new",
        verified_by="o",
        version=1,
    )


def test_a_memory_comes_back_as_it_was_stored(desk: Desk) -> None:
    memory = full(desk)
    with desk.store.write() as tx:
        assert tx.memories.add(memory, "k")
    with desk.store.read() as tx:
        assert tx.memories.get("v", memory.id) == memory
        assert tx.memories.many("v", [memory.id, "unknown"]) == {memory.id: memory}
        assert tx.memories.many("v", []) == {}


def test_another_vaults_id_is_as_good_as_unknown(desk: Desk) -> None:
    memory = desk.add("mine")
    changed = desk.change(memory, text="still mine")
    with desk.store.write() as tx:
        assert tx.memories.get("w", memory.id) is None
        assert tx.memories.many("w", [memory.id]) == {}
        assert tx.memories.by_content("w", "user", "", "fact", content_key("still mine")) is None
        assert tx.memories.revisions("w", memory.id) == []
        assert tx.memories.at("w", [memory.id], START + 9) == {}
        assert tx.memories.matching("w", memory.id, 9) == []
        assert list(tx.memories.stream("w")) == []
        assert tx.memories.expired("w", START * 2, 9) == []
        tx.memories.note("w", memory.id, {"a": 1})
        tx.memories.purge("w", [memory.id])
        with pytest.raises(DolmenError, match="changed"):
            tx.memories.update(changed.with_(vault="w"), changed.with_(vault="w", version=3), by(tx.now), "k")
    with desk.store.read() as tx:
        assert tx.memories.get("v", memory.id) == changed


@pytest.mark.parametrize("status", ["active", "proposed"])
def test_a_statement_is_kept_once_per_scope_label_and_kind(desk: Desk, status: str) -> None:
    """C-110."""
    first = desk.add("Ports are 7077", status=status)
    again = desk.memory("ports are  7077.")
    with desk.store.write() as tx:
        assert not add(tx, again)
        assert tx.memories.get("v", again.id) is None
        assert tx.memories.by_content("v", "user", "", "fact", content_key(again.text)) == first
        assert tx.memories.by_content("v", "project:new", "", "fact", content_key(again.text)) is None
        for other in ({"scope": "project:x"}, {"kind": "decision"}, {"label": "insight"}, {"vault": "w"}):
            assert add(tx, desk.memory("ports are  7077.", **other)), other


@pytest.mark.parametrize("status", ["superseded", "deleted"])
def test_a_statement_that_is_no_longer_active_may_be_made_again(desk: Desk, status: str) -> None:
    first = desk.add("Ports are 7077")
    desk.change(first, status=status)
    second = desk.add("Ports are 7077")
    with desk.store.read() as tx:
        assert tx.memories.by_content("v", "user", "", "fact", content_key(first.text)) == second


def test_an_id_is_used_once(desk: Desk) -> None:
    memory = desk.add("one")
    with pytest.raises(DolmenError) as refused, desk.store.write() as tx:
        tx.memories.add(memory.with_(text="two"), "other")
    assert refused.value.code == "conflict"
    with desk.store.read() as tx:
        assert tx.memories.get("v", memory.id) == memory


def test_a_change_keeps_what_was_before_it(desk: Desk) -> None:
    first = full(desk)
    with desk.store.write() as tx:
        tx.memories.add(first, "k")
    at = desk.clock.pass_()
    second = desk.change(first, text="the port is 7078", status="active", tags=("c",), pinned=False, case=None)
    desk.clock.pass_()
    third = desk.change(second, attrs={}, expires_at=None)
    with desk.store.read() as tx:
        assert tx.memories.get("v", first.id) == third
        history = tx.memories.revisions("v", first.id)
    assert [revision.memory for revision in history] == [first, second]
    assert history[0] == Revision(first, at, "amend", "claude-code", "o", "c", "as asked")


def test_a_memory_that_never_changed_has_no_revisions(desk: Desk) -> None:
    memory = desk.add("one")
    with desk.store.read() as tx:
        assert tx.memories.revisions("v", memory.id) == []
        assert tx.memories.revisions("v", "unknown") == []


def test_a_change_of_something_else_than_the_stored_version_is_a_conflict(desk: Desk) -> None:
    first = desk.add("one")
    second = desk.change(first, text="two")
    with pytest.raises(DolmenError) as refused:
        desk.change(first, text="three")
    assert refused.value.code == "conflict"
    assert refused.value.fix
    with desk.store.read() as tx:
        assert tx.memories.get("v", first.id) == second
        assert len(tx.memories.revisions("v", first.id)) == 1


def test_a_change_of_an_unknown_memory_is_a_conflict(desk: Desk) -> None:
    with pytest.raises(DolmenError) as refused:
        desk.change(desk.memory("never stored"), text="two")
    assert refused.value.code == "conflict"


def test_a_change_must_be_the_next_version_of_the_same_memory(desk: Desk) -> None:
    memory = desk.add("one")
    with pytest.raises(ValueError, match="next version"):
        desk.change(memory, version=3)
    with pytest.raises(ValueError, match="same memory"):
        desk.change(memory, id="another")


def test_a_change_into_a_second_active_copy_is_a_conflict_and_leaves_the_transaction_usable(desk: Desk) -> None:
    one, two = desk.add("one"), desk.add("two")
    with desk.store.write() as tx:
        with pytest.raises(DolmenError) as refused:
            change(tx, two, text="One.")
        assert refused.value.code == "conflict"
        assert refused.value.data["current"] == one.id
        assert add(tx, desk.memory("three"))
    with desk.store.read() as tx:
        assert tx.memories.get("v", two.id) == two
        assert tx.memories.count(desk.sight())[""] == 3


def test_a_second_copy_may_be_made_of_a_memory_that_is_not_active(desk: Desk) -> None:
    desk.add("one")
    two = desk.add("two")
    gone = desk.change(two, text="One.", status="deleted")
    with pytest.raises(DolmenError) as refused:
        desk.change(gone, status="active")
    assert refused.value.code == "conflict"


def test_a_memory_may_be_changed_without_a_new_text(desk: Desk) -> None:
    memory = desk.add("one")
    assert desk.change(memory, importance=1.0).importance == 1.0
    with desk.store.read() as tx:
        stored = tx.memories.get("v", memory.id)
    assert stored is not None
    assert stored.importance == 1.0


def test_a_memory_moves_to_another_scope_with_its_passages(desk: Desk) -> None:
    memory = desk.add("the herons nest in may")
    desk.change(memory, scope="project:birds")
    assert desk.ids(desk.sight("user")) == []
    assert desk.found(desk.sight("user"), "herons") == []
    assert desk.ids(desk.sight("project:birds")) == [memory.id]
    assert desk.found(desk.sight("project:birds"), "herons") == [memory.id]


def test_a_note_leaves_no_revision(desk: Desk) -> None:
    memory = desk.add("handoff", attrs={"next_steps": ["a"]})
    with desk.store.write() as tx:
        tx.memories.note("v", memory.id, {"resumed_by": "codex"})
    with desk.store.read() as tx:
        assert tx.memories.get("v", memory.id) == memory.with_(attrs={"resumed_by": "codex"})
        assert tx.memories.revisions("v", memory.id) == []


def test_an_entry_is_stripped_from_a_memory_and_all_that_it_was_before(desk: Desk) -> None:
    attrs = {"evidence": "the words of a session", "basis": "stated"}
    memory, other = desk.add("heron", attrs=attrs), desk.add("egret", attrs=attrs)
    changed = desk.change(desk.change(memory, text="the heron"), text="the grey heron", attrs={"basis": "stated"})
    with desk.store.write() as tx:
        tx.memories.strip("v", [memory.id, "nowhere"], "evidence")
        tx.memories.strip("w", [other.id], "evidence")
    with desk.store.read() as tx:
        assert tx.memories.get("v", memory.id) == changed
        past = [revision.memory for revision in tx.memories.revisions("v", memory.id)]
        assert [(each.text, each.attrs) for each in past] == [
            ("heron", {"basis": "stated"}), ("the heron", {"basis": "stated"}),
        ]  # fmt: skip
        assert tx.memories.get("v", other.id) == other, "that is another vault's"


def test_a_purge_destroys_everything_that_hangs_on_a_memory(desk: Desk) -> None:
    memory, other = desk.add("the secret heron", tags=("a",)), desk.add("the other heron", tags=("a",))
    changed = desk.change(memory, text="the hidden heron")
    model = desk.embed({memory.id: unit(1), other.id: unit(1)})
    with desk.store.write() as tx:
        for edge in (link(memory.id, other.id), link(other.id, memory.id), link(other.id, "elsewhere")):
            tx.links.add("v", edge)
        tx.keys.put("v", "c", "key", memory.id, tx.now)
        tx.keys.put("v", "c", "other", other.id, tx.now)
        tx.proposals.add(proposal("p1", memory=memory.id))
        tx.proposals.add(proposal("p2", memory=other.id))
    with desk.store.write() as tx:
        tx.memories.purge("v", [memory.id, "unknown"])
    sight = desk.sight()
    with desk.store.read() as tx:
        assert tx.memories.get("v", memory.id) is None
        assert tx.memories.revisions("v", memory.id) == []
        assert tx.memories.by_content("v", "user", "", "fact", content_key(changed.text)) is None
        assert tx.memories.select(desk.sight(tags=("a",))) == [other]
        assert tx.links.around("v", [memory.id, other.id]) == [link(other.id, "elsewhere")]
        assert tx.keys.find("v", "c", "key") is None
        assert tx.keys.find("v", "c", "other") == other.id
        assert [each.id for each in tx.proposals.select("v")] == ["p2"]
        assert [hit.memory for hit in tx.index.match(sight, ["heron", "hidden", "secret"], 9)] == [other.id]
        assert [hit.memory for hit in tx.index.nearest(sight, model, unit(1), 9)] == [other.id]
        assert tx.index.frequencies(sight, ["hidden"], 9) == (1, {"hidden": 0})
        assert tx.index.health(sight, model).models == {"m": 1}


def test_a_purge_of_many_takes_them_all(desk: Desk) -> None:
    memories = [desk.memory(f"number {n}") for n in range(600)]
    with desk.store.write() as tx:
        for memory in memories:
            add(tx, memory)
    with desk.store.write() as tx:
        tx.memories.purge("v", [memory.id for memory in memories[:-1]])
    assert desk.ids(desk.sight()) == [memories[-1].id]
    assert desk.found(desk.sight(), "number") == [memories[-1].id]


def test_expired_memories_are_listed_oldest_first_until_they_are_deleted(desk: Desk) -> None:
    late = desk.add("late", expires_at=START + 20)
    early = desk.add("early", expires_at=START + 10, status="proposed")
    desk.add("never")
    desk.add("later", expires_at=START + 21)
    desk.change(desk.add("gone", expires_at=START), status="deleted")
    with desk.store.read() as tx:
        assert tx.memories.expired("v", START + 20, 9) == [early, late]
        assert tx.memories.expired("v", START + 20, 1) == [early]
        assert tx.memories.expired("v", START + 9, 9) == []


def test_states_of_the_past_are_those_from_before_the_next_change(desk: Desk) -> None:
    born = desk.clock.now
    first = desk.add("one")
    changed = desk.clock.pass_()
    second = desk.change(first, text="two")
    changed_again = desk.clock.pass_()
    third = desk.change(second, text="three", status="deleted")
    unchanged = desk.add("alone")
    ids = [first.id, unchanged.id, "unknown"]
    with desk.store.read() as tx:
        assert tx.memories.at("v", ids, born - 1) == {}
        assert tx.memories.at("v", ids, born) == {first.id: first}
        assert tx.memories.at("v", ids, changed - 1) == {first.id: first}
        assert tx.memories.at("v", ids, changed) == {first.id: second}
        assert tx.memories.at("v", ids, changed_again) == {first.id: third, unchanged.id: unchanged}
        assert tx.memories.at("v", [], born) == {}


def test_the_whole_vault_streams_oldest_first(desk: Desk) -> None:
    young = desk.add("young", created_at=START + 9)
    old = desk.add("old", created_at=START - 9, status="deleted", scope="project:x")
    desk.add("elsewhere", vault="w")
    many = [desk.add(f"n{n}") for n in range(30)]
    with desk.store.read() as tx:
        stream = tx.memories.stream("v")
        assert next(stream) == old
        assert list(stream) == [*many, young]


def test_an_id_is_found_by_its_beginning_or_its_end(desk: Desk) -> None:
    with desk.store.write() as tx:
        for id in ("0123-aaaa", "0123-bbbb", "4567-aaaa"):
            add(tx, desk.memory(id, id=id, status="deleted"))
    with desk.store.read() as tx:
        assert sorted(tx.memories.matching("v", "0123", 9)) == ["0123-aaaa", "0123-bbbb"]
        assert sorted(tx.memories.matching("v", "aaaa", 9)) == ["0123-aaaa", "4567-aaaa"]
        assert tx.memories.matching("v", "0123-aaaa", 9) == ["0123-aaaa"]
        assert len(tx.memories.matching("v", "0123", 1)) == 1
        assert tx.memories.matching("v", "ccc", 9) == []
        assert tx.memories.matching("v", "123-aa", 9) == []


def test_an_import_writes_rows_and_history_as_they_are(desk: Desk) -> None:
    memory = full(desk).with_(version=3)
    revisions = [
        Revision(memory.with_(version=1, text="1", scope="user"), START, "amend", "a", "p", "c", "r"),
        Revision(memory.with_(version=2, text="2"), START + SECOND, "verify", "b", "", "c"),
    ]
    with desk.store.write() as tx:
        assert tx.memories.restore(memory, revisions, "k")
        assert not tx.memories.restore(memory.with_(text="other"), revisions, "other")
    with desk.store.read() as tx:
        assert tx.memories.get("v", memory.id) == memory
        assert tx.memories.revisions("v", memory.id) == revisions
        assert tx.memories.select(desk.sight(memory.scope, tags=("a",), statuses=("proposed",))) == [memory]


def test_an_import_does_not_make_a_second_active_copy(desk: Desk) -> None:
    kept = desk.add("one")
    with desk.store.write() as tx:
        assert not tx.memories.restore(desk.memory("One."), [], content_key("one"))
        assert tx.memories.restore(desk.memory("One.", status="deleted"), [], content_key("one"))
    assert desk.ids(desk.sight()) == [kept.id]


@pytest.mark.parametrize("order", ["newest", "oldest", "changed", "importance"])
def test_a_listing_has_its_order_and_pages_without_gaps(desk: Desk, order: str) -> None:
    made = [
        desk.memory(f"n{n}", created_at=START + n % 4, updated_at=START - n % 3, importance=(n % 5) / 4, scope=scope)
        for n in range(12)
        for scope in ("user", "project:x")
    ]
    with desk.store.write() as tx:
        for memory in made:
            add(tx, memory)
    keys = {
        "newest": lambda m: (-m.created_at, _turned(m.id)),
        "oldest": lambda m: (m.created_at, m.id),
        "changed": lambda m: (-m.updated_at, _turned(m.id)),
        "importance": lambda m: (-m.importance, -m.created_at, _turned(m.id)),
    }
    right = texts(sorted(made, key=keys[order]))  # type: ignore[arg-type]
    for sight in (desk.sight("user", "project:x"), desk.sight(scopes=None)):
        with desk.store.read() as tx:
            assert texts(tx.memories.select(sight, order, limit=99)) == right  # type: ignore[arg-type]
            pages: list[Memory] = []
            while page := tx.memories.select(sight, order, 5, pages[-1].id if pages else None):  # type: ignore[arg-type]
                assert len(page) <= 5
                pages += page
        assert texts(pages) == right


def _turned(id: str) -> tuple[int, ...]:
    return tuple(-ord(character) for character in id)


def test_a_page_after_a_memory_that_is_gone_says_so(desk: Desk) -> None:
    desk.add("one")
    foreign = desk.add("elsewhere", vault="w")
    for after in ("unknown", foreign.id):
        with pytest.raises(DolmenError) as refused:
            desk.ids(desk.sight(), after=after)
        assert refused.value.code == "gone"


def test_numbers_are_counted_by_a_column(desk: Desk) -> None:
    desk.add("a", agent="codex", folder="x")
    desk.add("b", kind="decision", scope="project:x")
    desk.add("c", kind="decision", status="proposed")
    desk.add("d", vault="w")
    sight = desk.sight("user", "project:x", statuses=("active", "proposed"))
    with desk.store.read() as tx:
        assert tx.memories.count(sight) == {"": 3}
        assert tx.memories.count(sight, "kind") == {"fact": 1, "decision": 2}
        assert tx.memories.count(sight, "status") == {"active": 2, "proposed": 1}
        assert tx.memories.count(sight, "scope") == {"user": 2, "project:x": 1}
        assert tx.memories.count(sight, "agent") == {"codex": 1, "unknown": 2}
        assert tx.memories.count(sight, "folder") == {"x": 1, "": 2}
        assert tx.memories.count(desk.sight("project:none")) == {"": 0}
        assert tx.memories.count(desk.sight("project:none"), "kind") == {}


def test_a_purge_destroys_what_was_asked_when_a_memory_was_found(desk: Desk) -> None:
    memory, other = desk.add("the secret heron"), desk.add("another")
    with desk.store.write() as tx:
        tx.journal.events(
            [
                RecallEvent("e1", "v", START, "c", "a", "secret heron?", (other.id, memory.id)),
                RecallEvent("e2", "v", START, "c", "a", "another?", (other.id,)),
                RecallEvent("e1", "w", START, "c", "a", "secret heron?", (memory.id,)),
            ]
        )
        tx.journal.feedback(Feedback("f1", "v", START, "c", "a", None, (memory.id,), True, True, "the heron"))
        tx.journal.feedback(Feedback("f2", "v", START, "c", "a", None, (other.id,), True, True))
    with desk.store.write() as tx:
        tx.memories.purge("v", [memory.id])
    desk.store.scrub()
    with desk.store.read() as tx:
        assert tx.journal.event("v", "e1") is None
        assert tx.journal.event("v", "e2") is not None
        assert tx.journal.event("w", "e1") is not None
        assert [entry.id for entry in tx.journal.feedbacks("v")] == ["f2"]
        assert tx.memories.get("v", other.id) == other
