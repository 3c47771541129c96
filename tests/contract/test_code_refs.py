"""`contract.CodeRefs`, and what else the store promises about references to code."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dolmen.domain.code import CodeRef, Target
from dolmen.domain.memory import Memory
from dolmen.domain.text import content_key
from dolmen.domain.values import SECOND
from dolmen.store.contract import Filter
from tests.contract.given import START, Desk

SCOPE = "project:github.com/o/r"
OPEN: dict[str, Any] = {"statuses": ("active", "proposed")}


def ref(memory: Memory, path: str, symbol: str = "", **fields: Any) -> CodeRef:
    return CodeRef(memory.id, content_key(memory.text), path, symbol, **fields)


def noted(desk: Desk, *refs: CodeRef) -> None:
    with desk.store.write() as tx:
        assert tx.code_refs.add("v", refs) == len(refs)


def of(desk: Desk, memory: Memory) -> list[CodeRef]:
    with desk.store.read() as tx:
        return tx.code_refs.of("v", [memory.id]).get(memory.id, [])


def anchored(memory: Memory, path: str, symbol: str = "", **fields: Any) -> CodeRef:
    anchor = {"state": "current", "anchor_commit": "abcdef0", "anchor_hash": "def1:1", "checked_commit": "abcdef0"}
    return ref(memory, path, symbol, **{**anchor, "checked_at": START, **fields})


def test_references_come_back_as_they_were_stored_in_the_order_of_mention(desk: Desk) -> None:
    memory = desk.add("see", scope=SCOPE)
    full = anchored(memory, "src/한글.py", "Run.fast", position=1, resolved_path="lib/b.py", state="changed")
    first = ref(memory, "z.py")
    noted(desk, full, first)
    assert of(desk, memory) == [first, full]
    with desk.store.read() as tx:
        assert list(tx.code_refs.stream("v")) == [full, first]
        assert tx.code_refs.of("w", [memory.id]) == {}
        assert tx.code_refs.of("v", []) == {}
        assert list(tx.code_refs.stream("w")) == []


def test_a_reference_is_kept_once_and_as_it_was_first(desk: Desk) -> None:
    memory = desk.add("see", scope=SCOPE)
    noted(desk, anchored(memory, "a.py"))
    with desk.store.write() as tx:
        assert tx.code_refs.add("v", [ref(memory, "a.py"), ref(memory, "a.py", "run")]) == 1
        assert tx.code_refs.add("w", [ref(memory, "b.py")]) == 0
        assert tx.code_refs.add("v", [replace(ref(memory, "b.py"), memory="nobody")]) == 0
    assert of(desk, memory) == [anchored(memory, "a.py"), ref(memory, "a.py", "run")]


def test_a_saved_state_replaces_the_one_before(desk: Desk) -> None:
    memory = desk.add("see", scope=SCOPE)
    noted(desk, ref(memory, "a.py"), ref(memory, "b.py", position=1))
    changed = anchored(memory, "a.py", state="missing", checked_at=START + SECOND)
    with desk.store.write() as tx:
        tx.code_refs.save("v", [changed, ref(memory, "never.py")])
        tx.code_refs.save("v", [])
    assert of(desk, memory) == [changed, ref(memory, "b.py", position=1)]
    with desk.store.write() as tx:
        tx.code_refs.remove("v", [changed])
    assert of(desk, memory) == [ref(memory, "b.py", position=1)]


def test_only_the_references_of_the_present_text_count_and_those_of_a_past_one_are_kept(desk: Desk) -> None:
    memory = desk.add("see a", scope=SCOPE)
    noted(desk, anchored(memory, "a.py"))
    later = desk.change(memory, text="see b")
    noted(desk, ref(later, "b.py"))
    assert [each.path for each in of(desk, memory)] == ["b.py"]
    desk.change(later, text="see a")
    assert of(desk, memory) == [anchored(memory, "a.py")]
    with desk.store.read() as tx:
        assert tx.code_refs.of_text("v", memory.id, content_key("see b")) == [ref(later, "b.py")]
        assert len(list(tx.code_refs.stream("v"))) == 2


def test_targets_are_what_is_referred_to_each_once_the_unseen_first_then_the_longest_unseen(desk: Desk) -> None:
    """C-228."""
    one, two, gone = (desk.add(f"text {n}", scope=SCOPE) for n in range(3))
    elsewhere = desk.add("text 4", scope="project:other")
    noted(
        desk,
        ref(one, "new.py"),
        ref(two, "new.py"),
        ref(two, "new.py", "run"),
        anchored(one, "late.py", checked_at=START + 9),
        anchored(two, "soon.py", checked_at=START + 5, checked_commit="fedcba9"),
        anchored(one, "both.py", checked_at=START + 7),
        ref(one, "both.py", "lost", state="unresolved", checked_at=START + 7, checked_commit="abcdef0"),
        ref(gone, "gone.py"),
        ref(elsewhere, "other.py"),
    )
    desk.change(gone, status="superseded")
    with desk.store.read() as tx:
        found = tx.code_refs.targets(desk.sight(SCOPE, **OPEN), 500)
        assert found == [
            Target("new.py", ""),
            Target("new.py", "run"),
            Target("soon.py", "", "abcdef0", "def1:1", "fedcba9"),
            Target("both.py", "lost", checked_commit="abcdef0"),
            Target("both.py", "", "abcdef0", "def1:1", "abcdef0"),
            Target("late.py", "", "abcdef0", "def1:1", "abcdef0"),
        ]
        assert tx.code_refs.targets(desk.sight(SCOPE, **OPEN), 2, 1) == found[1:3]
        assert tx.code_refs.targets(Filter("w", None, desk.clock.now, **OPEN), 9) == []


def test_references_are_found_by_what_they_refer_to_within_the_filter(desk: Desk) -> None:
    one = desk.add("one", scope=SCOPE)
    two = desk.add("two", scope=SCOPE, status="proposed")
    other = desk.add("other", scope="project:other")
    many = [ref(one, f"f{n}.py", f"s{n}") for n in range(300)]
    noted(desk, *many, ref(two, "f1.py", "s1"), ref(two, "f1.py", "s2"), ref(other, "f1.py", "s1"))
    wanted = [(each.path, each.symbol) for each in many]
    with desk.store.read() as tx:
        found = tx.code_refs.about(desk.sight(SCOPE, **OPEN), wanted)
        assert len(found) == 301
        assert {(each.memory, each.path, each.symbol) for each in found if each.memory == two.id} == {
            (two.id, "f1.py", "s1")
        }
        assert tx.code_refs.about(desk.sight(SCOPE), [("f1.py", "s2")]) == []
        assert tx.code_refs.about(desk.sight(SCOPE), []) == []


def test_references_are_counted_by_state(desk: Desk) -> None:
    one, two = desk.add("one", scope=SCOPE), desk.add("two", scope="project:other")
    noted(desk, ref(one, "a.py"), ref(one, "b.py"), anchored(one, "c.py"), anchored(two, "d.py", state="missing"))
    with desk.store.read() as tx:
        assert tx.code_refs.counts(desk.sight(SCOPE)) == {"pending": 2, "current": 1}
        assert tx.code_refs.counts(replace(desk.sight(), scopes=None)) == {"pending": 2, "current": 1, "missing": 1}


@pytest.mark.parametrize(
    ("symbol", "state", "stale"),
    [("", "missing", True), ("run", "changed", True), ("run", "missing", True), ("", "changed", False),
     ("run", "current", False), ("run", "pending", False), ("run", "unresolved", False)],
)  # fmt: skip
def test_the_filter_finds_stale_memories(desk: Desk, symbol: str, state: str, stale: bool) -> None:
    """C-226, C-227."""
    memory = desk.add("one", scope=SCOPE)
    desk.add("none", scope=SCOPE)
    fields = {} if state in ("pending", "unresolved") else {"anchor_commit": "abcdef0", "anchor_hash": "x:1"}
    noted(desk, ref(memory, "a.py", symbol, state=state, **fields))
    assert desk.ids(desk.sight(SCOPE, stale=True)) == ([memory.id] if stale else [])
    assert desk.found(desk.sight(SCOPE, stale=True), "one none") == ([memory.id] if stale else [])
    desk.change(memory, text="another text")
    assert desk.ids(desk.sight(SCOPE, stale=True)) == []


def test_a_renamed_project_keeps_its_references(desk: Desk) -> None:
    """B125."""
    memory = desk.add("one", scope=SCOPE)
    noted(desk, ref(memory, "a.py"))
    with desk.store.write() as tx:
        tx.scopes.alias("v", SCOPE, "project:new")
    with desk.store.read() as tx:
        assert tx.code_refs.targets(desk.sight("project:new", **OPEN), 9) == [Target("a.py", "")]


def test_a_purge_takes_the_references_along(desk: Desk) -> None:
    memory, other = desk.add("one", scope=SCOPE), desk.add("two", scope=SCOPE)
    noted(desk, ref(memory, "a.py"), replace(ref(memory, "b.py"), statement="past"), ref(other, "a.py"))
    with desk.store.write() as tx:
        tx.memories.purge("v", [memory.id])
    with desk.store.read() as tx:
        assert list(tx.code_refs.stream("v")) == [ref(other, "a.py")]


def test_a_mark_is_set_only_on_the_version_that_it_was_made_from(desk: Desk) -> None:
    memory = desk.add("one", scope=SCOPE)
    later = desk.change(memory, text="two")
    with desk.store.write() as tx:
        assert not tx.code_refs.mark("v", memory.id, memory.version, {"code": "gone"})
        assert not tx.code_refs.mark("w", memory.id, later.version, {"code": "gone"})
        assert tx.code_refs.mark("v", memory.id, later.version, {"code": "changed"})
    with desk.store.read() as tx:
        marked = tx.memories.get("v", memory.id)
        assert marked is not None
        assert (marked.attrs, marked.version) == ({"code": "changed"}, later.version)
