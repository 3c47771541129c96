"""The brief: conventions that persons stand behind, for an agent to follow before it says anything (C-197 to C-199).

A client attaches it before the model speaks, so nothing reaches it that no person wrote or confirmed (C-198): not a
statement, not a heading, not a comment. What is left out is named, with the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from dolmen.domain.access import require
from dolmen.domain.memory import Memory
from dolmen.domain.note import HEADED, Block, Note, address, states_something
from dolmen.domain.values import Actor
from dolmen.markdown import Document, body_start, read_properties
from dolmen.services.notes.drafting import document_of
from dolmen.services.notes.settling import standing_of
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import visible
from dolmen.store.contract import Tx

LINES = 200
"""Of a note's body, at most."""
_CONVENTION, _BRIEFING = "convention", "briefing"
_MANAGED = re.compile(r"<!--[^>]*\bsignpost:managed\b")
_PAGE = 500
_ADDRESS = 80
"""Characters of an address that the page shows."""
_NAMED = 20
"""Notes that are left out by name; the others are counted, for whoever writes notes could fill a page with names."""

Why = Literal[
    "it is over the 200-line cap",
    "it holds lines that nobody approved",
    "its front matter is unreadable",
    "it holds a signpost:managed marker",
]


@dataclass(frozen=True, slots=True)
class Included:
    ref: str
    body: str
    """The Markdown without its front matter."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    ref: str
    why: Why


@dataclass(frozen=True, slots=True)
class Conventions:
    included: tuple[Included, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def conventions(rt: Runtime, actor: Actor) -> Conventions:
    """What the team has published for agents, by address; nothing on a vault's first day."""
    require(actor, "read")
    included: list[Included] = []
    left_out: list[LeftOut] = []
    with rt.read(actor) as tx:
        for note in _candidates(tx, actor):
            ref = address(note.permalink)
            why = _hindered(tx, note)
            if why is None:
                included.append(Included(ref, note.source[body_start(note.source) :].strip("\r\n")))
            else:
                left_out.append(LeftOut(ref, why))
    return Conventions(tuple(included), tuple(left_out))


def _candidates(tx: Tx, actor: Actor) -> list[Note]:
    """Live conventions that ask to be in the brief, or may: an unreadable front matter cannot say."""
    sight = visible(tx, actor, None)
    found: list[Note] = []
    after: str | None = None
    while True:
        page = tx.notes.select(sight, "address", _PAGE, after)
        ids = [line.id for line in page if line.label.strip().lower() == _CONVENTION]
        notes = tx.notes.many(actor.vault, ids) if ids else {}
        found += [notes[id] for id in ids if id in notes and _asks(notes[id])]
        if len(page) < _PAGE:
            return found
        after = page[-1].id


def _asks(note: Note) -> bool:
    properties = read_properties(note.source)
    if properties.error:
        return _BRIEFING in note.source[: body_start(note.source)]
    return properties.text(_BRIEFING) == "true"


def _hindered(tx: Tx, note: Note) -> Why | None:
    if read_properties(note.source).error:
        return "its front matter is unreadable"
    if _MANAGED.search(note.source):
        return "it holds a signpost:managed marker"
    if len(note.source[body_start(note.source) :].strip("\r\n").splitlines()) > LINES:
        return "it is over the 200-line cap"
    document, ids = document_of(note)
    return None if _approved(document, ids, standing_of(tx, note)) else "it holds lines that nobody approved"


def _approved(document: Document, ids: Sequence[str], standing: Mapping[str, Memory]) -> bool:
    """Whether a person stands behind every line: wrote or verified each statement, and each heading with one below."""
    open_headings: list[tuple[int, int]] = []
    unseen: set[int] = set()
    for place, (id, block) in enumerate(zip(ids, document.blocks, strict=True)):
        if block.type == "heading":
            open_headings = [each for each in open_headings if each[1] < block.level]
            open_headings.append((place, block.level))
            unseen.add(place)
        elif states_something(block):
            memory = standing.get(id)
            if memory is None or not _stands(memory):
                return False
            if memory.attrs.get(HEADED):
                unseen.difference_update(at for at, _ in open_headings)
            elif open_headings:
                return False
        elif block.type != "rule":
            return False  # a comment, an empty quote: words that no person can have marked
    return not unseen and bool(standing) and not _between(document)


def _stands(memory: Memory) -> bool:
    return memory.trust == "user" and memory.status == "active" and memory.verification in ("verified", "accepted")


def _between(document: Document) -> bool:
    """Whether anything is written outside of the blocks."""
    at = body_start(document.source)
    for block in (*document.blocks, _end(document)):
        if document.source[at : max(at, block.start)].strip():
            return True
        at = max(at, block.end)
    return False


def _end(document: Document) -> Block:
    return Block("rule", len(document.source), len(document.source), "")


# ------------------------------------------------------------------------------------------------------------ rendering
_NONE = (
    "No conventions are published yet. A person publishes a note by giving it `type: convention` and `briefing: true` "
    "in its front matter, and by writing or verifying every block of it."
)


def rendered(found: Conventions, how: str, spelled: Callable[[str], str] = str) -> str:
    """The brief as one Markdown page: how to use the memory, the conventions, and what was left out.

    The one renderer of every door (C-199), so that no two can disagree.

    Args:
        how: how to use this door, in its own words.
        spelled: an address as this door spells it.
    """
    parts = ["# How to use this knowledge base", how, "# Conventions"]
    if not found.included:
        parts.append(_NONE)
    for note in found.included:
        parts += [f"<!-- {spelled(_plain(note.ref))} -->", note.body]
    if found.left_out:
        lines = [f"- {spelled(_plain(each.ref))}: {each.why}." for each in found.left_out[:_NAMED]]
        others = Counter(each.why for each in found.left_out[_NAMED:])
        lines += [f"- {number} more: {why}." for why, number in others.items()]
        parts += ["# Left out", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def _plain(ref: str) -> str:
    """An address as one short word, whatever an agent has made of it: who reads the page must not take it for a
    sentence of the page. A longer one ends in three dots, and is found by browsing."""
    word = "".join("-" if char.isspace() or char in "`<>" else char for char in ref)
    return word if len(word) <= _ADDRESS else word[:_ADDRESS] + "..."
