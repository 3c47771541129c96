"""Whatever is written and edited: the bytes stay, and the memories are exactly what the blocks state."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dolmen.domain.errors import DolmenError
from dolmen.domain.note import identify
from dolmen.domain.text import clean
from dolmen.markdown import parse
from dolmen.services.notes.drafting import document_of, draft_new
from dolmen.services.notes.editing import edit_note
from dolmen.services.notes.settling import link_target, standing_of
from dolmen.services.requests.notes import NoteEdit
from tests.markdown.documents import contents, documents
from tests.services.notes.conftest import Desk

EDITS = st.tuples(
    st.sampled_from(["append", "prepend", "replace_block", "replace_block", "replace_note", "set_property"]),
    contents,
    st.integers(0, 50),
)


def check(desk: Desk, id: str) -> dict[str, str]:
    """The note's blocks and their memories agree; the memories by block."""
    with desk.rt.store.read() as tx:
        note = tx.notes.get("main", id)
        assert note is not None
        standing = standing_of(tx, note)
        document, ids = document_of(note)
        assert ids == note.blocks
        assert len(set(ids)) == len(ids)
        stated = draft_new(note, document).statements.values()
        links = {id: each.links for id, each in zip([id for id in ids if id in standing], stated)}
        assert [standing[id].text for id in ids if id in standing] == [each.text for each in stated]
        assert len(standing) == len(stated)
        for memory in standing.values():
            edges = {(e.rel, e.target) for e in tx.links.around("main", [memory.id]) if e.source == memory.id}
            assert edges == {(rel, link_target(name)) for rel, name in links[memory.block]}
    return {memory.block: memory.id for memory in standing.values()}


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(documents(), st.lists(EDITS, max_size=4))
def test_memories_follow_any_edits_and_what_is_untouched_keeps_its_own(
    desk: Desk, source: str, edits: list[tuple[str, str, int]]
) -> None:
    source = clean(source)[0]
    made = desk.new(source, actor=desk.owner, path="any/text.md")
    assert made.note is not None
    id = made.note.id
    assert desk.read(id, actor=desk.owner).text == source
    assert made.note.blocks == identify(parse(source).marks), "a file gives the same ids everywhere"
    before = check(desk, id)
    for op, content, place in edits:
        request = _request(desk, id, op, content, place)
        _tried(desk, request)
        after = check(desk, id)
        touched = request.ref.partition("#")[2]
        if op in ("append", "prepend", "replace_block"):
            assert {k: v for k, v in before.items() if k != touched}.items() <= after.items()
        before = after
    desk.edit(id, "delete_note", actor=desk.owner, reason="done")


def _tried(desk: Desk, request: NoteEdit) -> None:
    try:
        edit_note(desk.rt, desk.owner, request)
    except DolmenError as refused:
        if refused.code not in ("invalid-argument", "not-found"):
            raise


def _request(desk: Desk, id: str, op: str, content: str, place: int) -> NoteEdit:
    note = desk.read(id, actor=desk.owner)
    content = clean(content)[0]
    if op == "set_property":
        return NoteEdit(id, "set_property", key="x", value=content[:20] or None)
    if op == "replace_note":
        return NoteEdit(id, "replace_note", content, expected_sha=note.sha)
    if op == "replace_block":
        blocks = note.note.blocks
        ref = f"{note.ref}#{blocks[place % len(blocks)]}" if blocks else f"{note.ref}#blk_00000000"
        return NoteEdit(ref, "replace_block", content)
    return NoteEdit(id, op, content or "words")  # type: ignore[arg-type]  # one of the two that are left
