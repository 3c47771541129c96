"""Everywhere that words can stand: what a purge by words has to look through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dolmen.domain.memory import Memory
from dolmen.domain.text import fold
from dolmen.services.notes.removing import notes_with
from dolmen.services.recording import strings
from dolmen.store.contract import Filter, Tx

_PAGE = 500
_EXCERPT = 160


@dataclass(frozen=True, slots=True)
class Traces:
    """What was asked, said or proposed with the words, by ids, and how each reads."""

    events: tuple[str, ...] = ()
    feedbacks: tuple[str, ...] = ()
    proposals: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """Notes that hold them, also in a heading, a property, a name or their past."""
    shown: tuple[str, ...] = ()


def holding(tx: Tx, sight: Filter, needle: str) -> Iterator[Memory]:
    """Memories in sight that hold the folded words anywhere: in any field, or in what they were before."""
    after: str | None = None
    while True:
        page = tx.memories.select(sight, limit=_PAGE, after=after)
        yield from (memory for memory in page if _holds(tx, memory, needle))
        if len(page) < _PAGE:
            return
        after = page[-1].id


def _holds(tx: Tx, memory: Memory, needle: str) -> bool:
    if _within(needle, _written(memory)):
        return True
    past = tx.memories.revisions(memory.vault, memory.id) if memory.version > 1 else []
    return any(_within(needle, (revision.reason, _written(revision.memory))) for revision in past)


def _written(memory: Memory) -> tuple[object, ...]:
    """Everything that a writer put into it."""
    m = memory
    return (m.text, m.title, m.folder, m.tags, m.label, m.source, m.session, m.case, m.attrs)


def _within(needle: str, value: object) -> bool:
    return any(needle in fold(text) for text in strings(value))


def traces(tx: Tx, vault: str, needle: str, *, told: bool) -> Traces:
    """Recalls, feedback and proposals of the vault that hold the folded words.

    Args:
        told: whoever purges may read what others asked and said.
    """
    events = [e for e in tx.journal.recalled(vault) if _within(needle, e.query)]
    feedbacks = [f for f in tx.journal.feedbacks(vault) if _within(needle, (f.reason, f.refs))]
    proposals = [p for p in tx.proposals.stream(vault) if _within(needle, (p.reason, p.decision_note, p.payload))]
    notes = notes_with(tx, vault, needle)
    shown = (
        *(f"note: {note.permalink}" for note in notes),
        *(f"asked: {e.query if told else '…'}" for e in events),
        *(f"said: {f.reason if told else '…'}" for f in feedbacks),
        *(f"proposed: {p.op} {p.memory or ''}" for p in proposals),
    )
    return Traces(
        tuple(e.id for e in events),
        tuple(f.id for f in feedbacks),
        tuple(p.id for p in proposals),
        tuple(note.id for note in notes),
        tuple(line[:_EXCERPT] for line in shown),
    )


def remove(tx: Tx, vault: str, found: Traces) -> None:
    """Destroys the traces."""
    tx.journal.remove(vault, found.events, found.feedbacks)
    tx.proposals.remove(vault, found.proposals)
