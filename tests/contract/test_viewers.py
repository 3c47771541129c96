"""Who looks sees only what they may: everything else is as if it had never been written (C-37, C-38, C-43, C-46)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dolmen.domain.audience import Viewer, everybody, of_key, of_persons
from dolmen.domain.code import CodeRef
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import STATUSES, Memory
from dolmen.domain.note import Note
from dolmen.domain.text import analyze, content_key
from dolmen.store.contract import CodeRefs, Filter, Index, Links, Memories, Notes, Proposals, Scopes, Tx
from tests.contract.given import Desk, add, by, change, link, passage, proposal, unit

ANN, BOB = "ann", "bob"
SECRET = "Marzipan"
HIDDEN = {"of-bob": of_persons([BOB]), "of-both": of_persons([BOB, "cid"]), "of-key": of_key("k1")}
VIEWERS = [Viewer("v", ANN), everybody("v"), Viewer("v", "cid-not-in-it"), Viewer("v", keys=("k2",), open=False)]


def _id(n: int) -> str:
    return f"01890000-0000-7000-8000-{n:012x}"


def _memory(vault: str, n: int, text: str, audience: str, scope: str, **fields: Any) -> Memory:
    at = 1_700_000_000_000_000 + n
    given = {"created_at": at, "updated_at": at, "session": "s", "tags": ("tea",), "folder": "in"} | fields
    return Memory(_id(n), vault, scope, "fact", text, audience=audience, **given)  # type: ignore[arg-type]


def _fill(tx: Tx, vault: str, *, secrets: bool) -> None:
    """Everybody's memories, and beside each of them, when asked, one of each audience that hides."""
    rows: list[Memory] = []
    for n in range(10):
        scope = "user" if n % 2 else "project:tea"
        rows.append(_memory(vault, 10 * n, f"The tea of day {n} was served with milk", "", scope))
    if secrets:
        for n, (name, audience) in enumerate(sorted(HIDDEN.items())):
            for m, scope in enumerate(("user", "project:tea", f"project:only-{name}")):
                text = f"{SECRET} and tea with milk, said {name} {m}"
                rows.append(_memory(vault, 101 + 20 * n + m, text, audience, scope))
    for memory in rows:
        assert add(tx, memory)
    mine = [memory for memory in rows if not memory.audience]
    tx.links.add(vault, link(mine[0].id, mine[1].id))
    tx.proposals.add(proposal(_id(900), vault=vault, memory=mine[0].id))
    tx.notes.add(_note(vault, 910, "backend/tea", ""))
    tx.code_refs.add(vault, [CodeRef(mine[0].id, content_key(mine[0].text), "tea.py", "brew")])
    for n, memory in enumerate(memory for memory in rows if memory.audience):
        tx.links.add(vault, link(mine[0].id, memory.id, "hides"))
        tx.links.add(vault, link(memory.id, mine[1].id, "hides"))
        tx.proposals.add(proposal(_id(920 + n), vault=vault, memory=memory.id))
        tx.proposals.add(proposal(_id(950 + n), vault=vault, audience=memory.audience, payload={"say": SECRET}))
        tx.code_refs.add(vault, [CodeRef(memory.id, content_key(memory.text), f"{SECRET}.py", "brew")])
        change(tx, memory, text=f"{memory.text}, twice")
    for n, audience in enumerate(sorted(HIDDEN.values()) if secrets else ()):
        note = _note(vault, 980 + n, "backend/tea", audience)
        assert tx.notes.add(note)
        tx.proposals.add(proposal(_id(990 + n), vault=vault, op="note_edit", note=note.id))
        moved = note.with_(version=2, permalink=f"backend/{SECRET}-{n}")
        tx.notes.update(note, moved, by(tx.now))


def _note(vault: str, n: int, permalink: str, audience: str) -> Note:
    said = f"{SECRET} {n}" if audience else "Tea"
    return Note(_id(n), vault, "user", permalink, said, f"# {said}\n", audience=audience, created_at=5, updated_at=5)


def _sight(tx: Tx, vault: str, **fields: Any) -> Filter:
    return Filter(vault, fields.pop("scopes", None), tx.now, **fields)


_EVERY = [_id(n) for n in range(1000)]
_SCOPES = ("user", "project:tea", "project:only-of-bob")

READS: dict[str, Callable[[Tx, str], object]] = {
    "get": lambda tx, v: [tx.memories.get(v, id) for id in _EVERY],
    "many": lambda tx, v: tx.memories.many(v, _EVERY),
    "by_content": lambda tx, v: [
        tx.memories.by_content(
            v, "user", "", "fact", content_key(f"{SECRET} and tea with milk, said {name} 0"), audience
        )
        for name, audience in HIDDEN.items()
    ],
    "saying": lambda tx, v: [
        tx.memories.saying(v, "user", content_key(f"{SECRET} and tea with milk, said {name} 0"), audience)
        for name, audience in HIDDEN.items()
    ],
    "blocks": lambda tx, v: [tx.memories.blocks(v, id) for id in _EVERY[900:]],
    "select": lambda tx, v: tx.memories.select(_sight(tx, v), limit=5),
    "select in scopes": lambda tx, v: tx.memories.select(_sight(tx, v, scopes=_SCOPES), limit=5),
    "select by ids": lambda tx, v: tx.memories.select(_sight(tx, v, ids=tuple(_EVERY[:256]))),
    "select by tag": lambda tx, v: tx.memories.select(_sight(tx, v, tags=("tea",), folder="in")),
    "select all of the past": lambda tx, v: tx.memories.select(_sight(tx, v, as_of=tx.now, statuses=STATUSES)),
    "select in scopes of the past": lambda tx, v: tx.memories.select(_sight(tx, v, as_of=tx.now, scopes=_SCOPES)),
    "count": lambda tx, v: [
        tx.memories.count(_sight(tx, v), by) for by in ("", "kind", "status", "scope", "agent", "folder")
    ],
    "count of the past": lambda tx, v: tx.memories.count(_sight(tx, v, as_of=tx.now), "scope"),
    "expired": lambda tx, v: tx.memories.expired(v, 2**60, 100),
    "revisions": lambda tx, v: [tx.memories.revisions(v, id) for id in _EVERY],
    "at": lambda tx, v: [tx.memories.at(v, _EVERY, at) for at in (1_700_000_000_000_000, tx.now)],
    "stream": lambda tx, v: list(tx.memories.stream(v)),
    "matching": lambda tx, v: sorted(tx.memories.matching(v, "01890000", 50)),
    "aliases": lambda tx, v: tx.scopes.aliases(v) and tx.scopes.resolve(v, "project:tea"),
    "scopes": lambda tx, v: tx.scopes.names(v),
    "links": lambda tx, v: tx.links.around(v, _EVERY),
    "links toward": lambda tx, v: tx.links.toward(v, _EVERY),
    "every link": lambda tx, v: list(tx.links.stream(v)),
    "proposals": lambda tx, v: [tx.proposals.select(v, status) for status in (None, "pending")],
    "few proposals": lambda tx, v: tx.proposals.select(v, "pending", None, 1),
    "proposal": lambda tx, v: [tx.proposals.get(v, id) for id in _EVERY[900:]],
    "proposals of a memory": lambda tx, v: [tx.proposals.for_memory(v, id) for id in _EVERY],
    "proposals of a note": lambda tx, v: [tx.proposals.for_note(v, id) for id in _EVERY[900:]],
    "every proposal": lambda tx, v: list(tx.proposals.stream(v)),
    "note": lambda tx, v: [tx.notes.get(v, id) for id in _EVERY[900:]],
    "notes": lambda tx, v: tx.notes.many(v, _EVERY[900:]),
    "note at an address": lambda tx, v: [
        tx.notes.at_address(v, name) for name in ("backend/tea", *(f"backend/{SECRET}-{n}" for n in range(3)))
    ],
    "notes by name": lambda tx, v: tx.notes.named(
        v, ["tea", "backend/tea", *(f"{SECRET.lower()}-{n}" for n in range(3))]
    ),
    "listed notes": lambda tx, v: tx.notes.select(_sight(tx, v), limit=1),
    "folders": lambda tx, v: tx.notes.folders(_sight(tx, v)),
    "past of notes": lambda tx, v: [tx.notes.revisions(v, id) for id in _EVERY[900:]],
    "notes then": lambda tx, v: [tx.notes.at(v, id, tx.now) for id in _EVERY[900:]],
    "former addresses": lambda tx, v: tx.notes.aliases(v),
    "every note": lambda tx, v: list(tx.notes.stream(v)),
    "targets": lambda tx, v: tx.code_refs.targets(_sight(tx, v, statuses=STATUSES), 50),
    "refs about": lambda tx, v: tx.code_refs.about(_sight(tx, v), [("tea.py", "brew"), (f"{SECRET}.py", "brew")]),
    "refs by state": lambda tx, v: tx.code_refs.counts(_sight(tx, v)),
    "frequencies": lambda tx, v: [
        tx.index.frequencies(_sight(tx, v, **more), analyze(f"{SECRET} tea milk"), 1000)
        for more in ({}, {"scopes": _SCOPES}, {"as_of": tx.now}, {"statuses": STATUSES})
    ],
    "match": lambda tx, v: [
        [(hit.memory, hit.score) for hit in tx.index.match(_sight(tx, v, **more), analyze(f"{SECRET} tea"), 3)]
        for more in ({}, {"scopes": _SCOPES}, {"as_of": tx.now}, {"statuses": STATUSES})
    ],
    "likeliest": lambda tx, v: [
        [hit.memory for hit in tx.index.likeliest(_sight(tx, v, **more), analyze(f"{SECRET} tea"), 4, 2)[0]]
        for more in ({}, {"scopes": _SCOPES})
    ],
    "nearest": lambda tx, v: [
        [(hit.memory, round(hit.score, 3)) for hit in tx.index.nearest(_sight(tx, v, **more), 1, unit(101), 3)]
        for more in ({}, {"scopes": _SCOPES}, {"as_of": tx.now}, {"statuses": STATUSES})
    ],
    "background": lambda tx, v: [
        [round(number, 4) for number in tx.index.background(_sight(tx, v), 1, unit(at)) or ()] for at in (0, 101)
    ],
    "health": lambda tx, v: tx.index.health(_sight(tx, v), 1),
}
"""Every way to read what was written; `tests/contract/test_viewers.py` fails when a port has another one."""

UNBOUNDED = {
    "memories.places": "what was written before in a session, as ids that mean nothing without their memories",
    "memories.written_by": "a number, of what one connection wrote",
    "notes.known": "asked about ids that cannot be guessed, and tells only that there is such a note",
    "code_refs.of": "asked about memories that a read gave",
    "code_refs.of_text": "asked about a memory that a read gave",
    "code_refs.stream": "for an export",
    "index.cosines": "asked about passages that a read gave",
    "index.vectors": "asked about memories that a read gave",
    "index.spans": "asked about passages that a read gave",
    "index.find_model": "the model is the store's",
    "index.pending": "what the house still has to embed, for the house",
}
"""Reads that a viewer does not bound, each with its reason."""

WRITES = {
    "add", "update", "note", "add_blocks", "place", "purge", "restore", "alias", "unalias", "lock", "remove", "decide",
    "rewrite", "save", "strip", "hold", "mark", "put", "retire", "set_live", "drop", "clear", "model", "set_vectors",
    "refile",
}  # fmt: skip


@pytest.fixture
def both(desk: Desk) -> Desk:
    """Vault `v` has secrets, vault `w` is the same without them."""
    with desk.store.write() as tx:
        for vault, secrets in (("v", True), ("w", False)):
            _fill(tx, vault, secrets=secrets)
    desk.embed({id: unit(n) for n, id in enumerate(_EVERY)})
    return desk


def _seen(desk: Desk, viewer: Viewer, read: Callable[[Tx, str], object]) -> str:
    with desk.store.read(viewer) as tx:
        return re.sub(r"\b[vw]\b", "v", repr(read(tx, viewer.vault)))


@pytest.mark.parametrize("viewer", [viewer for viewer in VIEWERS if viewer.open], ids=["ann", "everybody", "stranger"])
def test_what_a_viewer_may_not_see_is_as_if_it_were_not_there(both: Desk, viewer: Viewer) -> None:
    other = Viewer("w", viewer.person)
    wrong = [name for name, read in READS.items() if _seen(both, viewer, read) != _seen(both, other, read)]
    assert wrong == []


def test_another_vault_is_not_there_at_all(both: Desk) -> None:
    outsider = Viewer("other", BOB, keys=("k1",), every_key=True)
    with both.store.read(outsider) as tx:
        wrong = [name for name, read in READS.items() if repr(read(tx, "v")) != repr(read(tx, "nowhere"))]
    assert wrong == []


def test_every_read_of_the_contract_is_looked_at_here() -> None:
    ports = {"memories": Memories, "scopes": Scopes, "links": Links, "proposals": Proposals, "notes": Notes,
             "code_refs": CodeRefs, "index": Index}  # fmt: skip
    here = Path(__file__).read_text()
    reads = {
        f"{name}.{method}"
        for name, port in ports.items()
        for method in vars(port)
        if not method.startswith("_") and method not in WRITES
    }
    assert {read for read in reads if f"tx.{read}(" not in here} == set(UNBOUNDED)


def test_a_key_that_is_kept_apart_sees_its_own_and_its_groups_alone(both: Desk) -> None:
    # C-37, C-38
    with both.store.read(Viewer("v", keys=("k1", "k2"), open=False)) as tx:
        found = tx.memories.select(_sight(tx, "v"), limit=50)
    assert {memory.audience for memory in found} == {of_key("k1")}
    assert len(found) == 3
    with both.store.read(Viewer("v", keys=("k2",), open=False)) as tx:
        assert tx.memories.select(_sight(tx, "v"), limit=50) == []


def test_those_who_may_see_it_do(both: Desk) -> None:
    for viewer, expected in (
        (Viewer("v", BOB), {"", *(HIDDEN[name] for name in ("of-bob", "of-both"))}),
        (Viewer("v", "cid"), {"", HIDDEN["of-both"]}),
        (Viewer("v", ANN, every_key=True), {"", HIDDEN["of-key"]}),
    ):
        with both.store.read(viewer) as tx:
            found = tx.memories.select(_sight(tx, "v"), limit=50)
            notes = {note.audience for note in tx.notes.stream("v")}
            hits = {hit.memory for hit in tx.index.match(_sight(tx, "v"), analyze(SECRET), 50)}
        assert {memory.audience for memory in found} == notes == expected
        assert hits == {memory.id for memory in found if memory.audience}


def test_what_was_open_and_is_private_now_is_hidden_in_the_past_too(desk: Desk) -> None:
    memory = desk.add("The vault key is under the mat")
    then = desk.clock.now
    desk.clock.pass_()
    desk.change(memory, audience=of_persons([BOB]))
    desk.clock.pass_()
    with desk.store.read(Viewer("v", ANN)) as tx:
        for sight in (_sight(tx, "v", as_of=then), _sight(tx, "v", as_of=then, scopes=("user",))):
            assert tx.memories.select(sight) == []
            assert tx.index.match(sight, analyze("vault mat"), 5) == []
        assert tx.memories.at("v", [memory.id], then) == {}
        assert tx.memories.revisions("v", memory.id) == []
    with desk.store.read(Viewer("v", BOB)) as tx:
        assert [each.id for each in tx.memories.select(_sight(tx, "v", as_of=then))] == [memory.id]
        assert len(tx.memories.revisions("v", memory.id)) == 1


def test_what_was_private_and_is_open_now_keeps_its_past_to_those_who_saw_it(desk: Desk) -> None:
    memory = desk.add("Draft: the offer is 90", audience=of_persons([BOB]))
    then = desk.clock.now
    desk.clock.pass_()
    memory = desk.change(memory, text="The offer is 100")
    desk.clock.pass_()
    desk.change(memory, audience="")
    with desk.store.read(Viewer("v", ANN)) as tx:
        assert [each.text for each in tx.memories.select(_sight(tx, "v"))] == ["The offer is 100"]
        assert tx.memories.revisions("v", memory.id) == []
        for sight in (_sight(tx, "v", as_of=then), _sight(tx, "v", as_of=then, scopes=("user",))):
            assert tx.memories.select(sight) == []
            assert tx.index.match(sight, analyze("draft offer"), 5) == []
    with desk.store.read(Viewer("v", BOB)) as tx:
        assert len(tx.memories.revisions("v", memory.id)) == 2


def test_the_same_statement_and_the_same_address_can_be_said_to_different_people(desk: Desk) -> None:
    # C-110: a statement is kept once for each audience, so that a duplicate tells nobody of another one.
    with desk.store.write() as tx:
        for n, audience in enumerate(("", of_persons([ANN]), of_persons([BOB]), of_key("k1"))):
            assert add(tx, _memory("v", n, "Coffee is out", audience, "user"))
            assert not add(tx, _memory("v", 50 + n, "Coffee is out", audience, "user"))
            assert tx.notes.add(_note("v", n, "backend/tea", audience))
            assert not tx.notes.add(_note("v", 50 + n, "backend/tea", audience))
    with desk.store.write() as tx:
        [mine] = [memory for memory in tx.memories.stream("v") if memory.audience == of_persons([ANN])]
        with pytest.raises(DolmenError, match="already says this"):
            change(tx, mine, audience="")


def test_a_renamed_project_keeps_what_only_some_may_see_to_them(desk: Desk) -> None:
    with desk.store.write() as tx:
        for n, audience in enumerate(("", of_persons([BOB]))):
            memory = _memory("v", n, f"Steep for {n} minutes", audience, "project:tea")
            assert tx.memories.add(memory, content_key(memory.text))
            tx.index.put("v", [passage(memory, tx.now)])
        assert tx.scopes.alias("v", "project:tea", "project:chai") == 2
    for viewer, number in ((Viewer("v", ANN), 1), (Viewer("v", BOB), 2)):
        for name in ("project:tea", "project:chai"):
            with desk.store.read(viewer) as tx:
                sight = _sight(tx, "v", scopes=(tx.scopes.resolve("v", name),))
                assert tx.memories.count(sight) == {"": number}
                assert len(tx.index.match(sight, analyze("steep"), 5)) == number
    with desk.store.write() as tx:  # and back again
        assert tx.scopes.alias("v", "project:chai", "project:tea") == 2
    with desk.store.read(Viewer("v", ANN)) as tx:
        assert tx.scopes.names("v") == ["project:tea"]
        assert tx.memories.count(_sight(tx, "v", scopes=("project:tea",))) == {"": 1}


def test_a_project_that_only_somebody_elses_memories_name_is_not_listed(desk: Desk) -> None:
    desk.add("Plan B", audience=of_persons([BOB]), scope="project:layoffs")
    with desk.store.read(Viewer("v", ANN)) as tx:
        assert tx.scopes.names("v") == []
    with desk.store.read(Viewer("v", BOB)) as tx:
        assert tx.scopes.names("v") == ["project:layoffs"]
