"""Taking notes and blocks away: hidden with undo, or destroyed with every word of theirs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dolmen.domain.access import decide_purge, require
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import Memory
from dolmen.domain.note import Matching, Note, NoteRevision, identify, match, name_of, parse_ref, slug, title_from
from dolmen.domain.text import fold
from dolmen.domain.values import Actor
from dolmen.markdown import Document, parse, read_properties, replace_block
from dolmen.services.notes.drafting import document_of, draft_change, first_heading, first_line
from dolmen.services.notes.editing import edit_in
from dolmen.services.notes.finding import Place, find, locked
from dolmen.services.notes.settling import settle, standing_of
from dolmen.services.notes.writing import keep
from dolmen.services.recording import audit, queue, reason_text
from dolmen.services.requests import Forget, Forgotten
from dolmen.services.requests.notes import NoteEdit
from dolmen.services.runtime import Runtime
from dolmen.store.contract import Tx

_EXCERPT = 160


# ---------------------------------------------------------------------------------------------------------- whole notes
def names_a_note(rt: Runtime, actor: Actor, ref: str) -> bool:
    """Whether a ref means a whole note, not a memory or a block."""
    place = parse_ref(ref)
    if place is not None and place.block is not None:
        return False
    with rt.read(actor) as tx:
        found = find(tx, actor, ref)
    return found is not None and found.block is None


def forget_note(rt: Runtime, actor: Actor, request: Forget) -> Forgotten:
    """Forgets a whole note: `soft` leaves a tombstone with the reason, `purge` destroys it with every block, revision,
    former address, index entry and proposal.

    Raises:
        DolmenError: `not-found`; `invalid-argument` for `invalidate`, which marks claims (`verify` with `superseded`).
    """
    require(actor, "write")
    reason = reason_text(request.reason)
    if request.mode == "invalidate":
        raise DolmenError(
            "invalid-argument",
            "A note is not invalidated as a whole.",
            "Verify it with state superseded, or delete it.",
        )
    with rt.write(actor) as tx:
        place = locked(tx, actor, request.ref or "", live=False)
        note, answer = place.note, Forgotten("unchanged", request.mode, (place.ref,))
        if request.dry_run:
            return replace(answer, outcome="would", texts=(note.source[:_EXCERPT],))
        if request.mode == "soft":
            if note.status == "deleted":
                return answer
            edit = NoteEdit(place.ref, "delete_note", reason=reason or "forgotten")
            done = edit_in(tx, actor, place, edit)
            return replace(answer, outcome=done.outcome, proposal=done.proposal, because=done.because)
        decision, because = decide_purge(actor)
        if decision == "queue":
            claims = tx.memories.blocks(note.vault, note.id)
            payload = {"mode": "purge", "refs": [m.id for m in claims], "note": note.id}
            proposal = queue(tx, actor, "forget", because, claims[0] if claims else None, payload, reason, note=note)
            return replace(answer, outcome="queued", proposal=proposal.id, because=because)
        purge_note(tx, actor, note)
    return replace(answer, outcome="purged")


def purge_note(tx: Tx, actor: Actor, note: Note) -> None:
    """Destroys a note in the caller's transaction."""
    tx.notes.purge(note.vault, [note.id])  # first: whoever is just writing to it is waited for, or fails
    tx.memories.purge(note.vault, [memory.id for memory in tx.memories.blocks(note.vault, note.id)])
    audit(tx, actor, "forget:purge", note.id)


# --------------------------------------------------------------------------------------------------------------- blocks
def remove_blocks(tx: Tx, actor: Actor, memories: Sequence[Memory], reason: str = "") -> None:
    """Takes blocks out of their notes, as `replace_block` without content does; the notes' revisions keep them.

    Raises:
        DolmenError: `invalid-argument` for a block that holds others.
    """
    for note_id, blocks in _by_note(memories).items():
        place = locked(tx, actor, note_id)
        document, ids = document_of(place.note)
        left = list(ids)
        for block in (id for id in reversed(ids) if id in blocks):
            document = replace_block(document, left.index(block), "").document
            left.remove(block)
        draft = draft_change(place.note, tuple(left), document, _same(len(left)))
        given = {"mode": "soft", "refs": [memory.id for memory in memories]}
        keep(tx, actor, place.note, draft, "forget", reason, proposal=("forget", given))


def _by_note(memories: Iterable[Memory]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for memory in memories:
        if memory.note:
            found.setdefault(memory.note, set()).add(memory.block)
    return found


def _same(blocks: int) -> Matching:
    return Matching(tuple((n, n) for n in range(blocks)), ())


# ---------------------------------------------------------------------------------------------------------------- purge
@dataclass(slots=True)
class Cuts:
    """What a purge takes out of notes."""

    blocks: dict[str, set[str]] = field(default_factory=dict)
    """By note, the ids that its blocks have or had."""
    titles: dict[str, set[str]] = field(default_factory=dict)
    """By note, the folded titles that were made of their words."""


def cuts_of(tx: Tx, memories: Sequence[Memory], needle: str = "") -> Cuts:
    """The blocks that the purge of these memories takes out of their notes, now and in the past.

    Args:
        needle: folded words; a block that holds them only in what it inherits from its note stays.
    """
    cuts = Cuts()
    for memory in memories:
        if not memory.note:
            continue
        past = [r.memory for r in tx.memories.revisions(memory.vault, memory.id)] if memory.version > 1 else []
        states = [memory, *past]
        said = [fold(f"{state.label} {state.text}") for state in states]
        if needle and not any(needle in words for words in said):
            continue
        cuts.blocks.setdefault(memory.note, set()).update(state.block for state in states)
        titles = {fold(title_from(state.text.strip().partition("\n")[0])) for state in states}
        cuts.titles.setdefault(memory.note, set()).update(titles)
    return cuts


def notes_with(tx: Tx, vault: str, needle: str) -> list[Note]:
    """Notes that hold the folded words anywhere: in what they say, in their names, or in what they were before."""
    return [note for note in tx.notes.stream(vault) if _holds(tx, note, needle)]


def _holds(tx: Tx, note: Note, needle: str) -> bool:
    if _written(note, needle):
        return True
    past = tx.notes.revisions(note.vault, note.id) if note.version > 1 else []
    return any(needle in fold(revision.reason) or _written(revision.note, needle) for revision in past)


def _written(note: Note, needle: str) -> bool:
    names = (note.source, note.title, note.permalink, note.path, note.reason, note.label)
    return any(needle in fold(text) for text in names) or slug(needle) in note.permalink


def cut(tx: Tx, actor: Actor, cuts: Cuts, needle: str = "", notes: Sequence[str] = ()) -> None:
    """Takes purged words out of notes and their past, after their memories were destroyed. This makes no revision,
    which would keep the words. What stays is indexed anew."""
    for id in dict.fromkeys([*cuts.blocks, *notes]):
        tx.notes.lock(actor.vault, id)
        note = tx.notes.get(actor.vault, id)
        if note is None:
            continue
        clear = _Clearing(cuts.blocks.get(id, set()), cuts.titles.get(id, set()), needle)
        after = clear.note(note).with_(updated_at=tx.now)  # so that a mirror of it sees that it is another text
        past = [clear.revision(each) for each in tx.notes.revisions(actor.vault, id, every=True)]
        had = [name for name, home in tx.notes.aliases(actor.vault).items() if home == id and clear.repeated(name)]
        tx.notes.rewrite(after, past, had)
        standing = standing_of(tx, after)
        if after.title != note.title:  # each block's memory, its past and its passages repeat the title
            tx.memories.purge(actor.vault, [memory.id for memory in standing.values()])
            standing = {}
        document, ids = document_of(after)
        draft = draft_change(after, ids, document, _same(len(ids)))
        draft = replace(draft, note=after.with_(kind=draft.note.kind, label=draft.note.label))
        settle(tx, actor, draft, standing, "purge")


@dataclass(frozen=True, slots=True)
class _Clearing:
    """Clears a note and what it was: of some blocks, of the lines that hold some words, of names that repeat them."""

    blocks: set[str]
    titles: set[str]
    needle: str

    def revision(self, revision: NoteRevision) -> NoteRevision:
        return replace(revision, note=self.note(revision.note), reason=self._text(revision.reason))

    def note(self, note: Note) -> Note:
        document, ids = document_of(note)
        source, left = note.source, list(ids)
        for n in reversed(range(len(ids))):
            if ids[n] in self.blocks:
                source = source[: document.blocks[n].start] + source[document.blocks[n].end :]
                left.pop(n)
        if self._in(source):
            source = "".join(line for line in source.splitlines(keepends=True) if not self._in(line))
            source = self._text(source)  # words across several lines
        after = parse(source)
        permalink, path = self._names(note)
        return note.with_(
            source=source,
            blocks=_ids(document, ids, left, after),
            title=self._title(note.title, after),
            label=self._text(note.label),
            permalink=permalink,
            path=path,
            reason=self._text(note.reason),
        )

    def _in(self, text: str) -> bool:
        return bool(self.needle) and self.needle in fold(text)

    def _text(self, text: str) -> str:
        return "" if self._in(text) else text

    def _told(self, title: str) -> bool:
        return self._in(title) or fold(title) in self.titles

    def _title(self, title: str, after: Document) -> str:
        if not self._told(title):
            return title
        own = read_properties(after.source).text("title") or first_heading(after) or first_line(after)
        return own if own and not self._told(own) else "Note"

    def _names(self, note: Note) -> tuple[str, str]:
        told = self._told(note.title) and name_of(note.permalink).startswith(slug(note.title))
        said = bool(self.needle) and self.repeated(note.permalink)
        if told or said or self._in(note.path):
            return f"note-{note.id[-12:]}", ""
        return note.permalink, note.path

    def repeated(self, permalink: str) -> bool:
        """Whether an address repeats the words, or a title that was made of them."""
        slugs = {slug(self.needle)} if self.needle else {slug(title) for title in self.titles}
        return self._in(permalink) or any(each in permalink for each in slugs)


def _ids(before: Document, ids: Sequence[str], left: Sequence[str], after: Document) -> tuple[str, ...]:
    if len(after.blocks) == len(left):
        return tuple(left)
    kept: list[str | None] = [None] * len(after.blocks)
    for a, c in match(before.blocks, after.blocks).same:
        kept[c] = ids[a] if ids[a] in left else None
    return identify(after.marks, kept)


def applied(tx: Tx, actor: Actor, payload: Mapping[str, object], place: Place | None) -> bool:
    """Does an agreed purge of a whole note; False when the proposal is about memories alone."""
    if place is None or payload.get("mode") != "purge" or not payload.get("note"):
        return False
    purge_note(tx, actor, place.note)
    return True
