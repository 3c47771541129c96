"""Questions with their right answers: from a file, from what agents said of recalls, or made from the memories."""

from __future__ import annotations

import csv
import hashlib
import heapq
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dolmen.domain.access import require
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import Memory
from dolmen.domain.statements import statement
from dolmen.domain.text import fold
from dolmen.domain.values import Actor
from dolmen.services.forget import containing
from dolmen.services.listing import full_ref
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import ref_id, visible
from dolmen.store.contract import Filter, Tx

MOST = 10_000
"""Questions of one run."""
SCANNED = 50_000
"""The newest memories, from which the held back ones are chosen."""
_CONTAINING = 20
_LEAST_WORDS = 2
_SENTENCE = re.compile(r"[.!?。！？\n]")
_SHAPE = 'A line is {"query": "…", "refs": ["…"]} or {"query": "…", "contains": "words of the right memory"}.'


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    right: frozenset[str]
    """Refs of the memories that answer it."""


@dataclass(frozen=True, slots=True)
class Questions:
    """What will be asked, and what that is worth."""

    asked: tuple[Question, ...]
    source: str
    """Where they come from, and what their figures do not say."""
    left_out: tuple[str, ...] = ()
    """What could not be asked, and why."""


def from_file(rt: Runtime, actor: Actor, lines: Iterable[str], *, project: str | None, table: bool) -> Questions:
    """Questions that somebody wrote: JSON Lines, or a CSV `table` with a header line.

    Each has a `query` and the memories that answer it: `refs` (or `ref`; ids or the ends of ids), or words that they
    contain (`contains`).

    Raises:
        DolmenError: `invalid-argument` for a line that is no question; `too-large` for more than 10,000.
    """
    require(actor, "read")
    asked: list[Question] = []
    left_out: list[str] = []
    for number, row in _table(lines) if table else _lines(lines):
        if len(asked) >= MOST:
            raise DolmenError("too-large", f"There are more than {MOST:,} questions.", "Split the file.")
        text = str(row.get("query") or row.get("question") or "").strip()
        refs = _words(row.get("refs") or row.get("ref"))
        contains = [str(each) for each in _listed(row.get("contains")) if str(each).strip()]
        if not text or not (refs or contains):
            raise DolmenError("invalid-argument", f"Line {number} is no question with its answer.", _SHAPE)
        right, why = _right(rt, actor, project, refs, contains)
        if right:
            asked.append(Question(text, right))
        else:
            left_out.append(f"line {number}: {why}")
    return Questions(tuple(asked), "Questions from a file.", tuple(left_out))


def from_feedback(rt: Runtime, actor: Actor, *, project: str | None) -> Questions:
    """Past recalls that somebody called relevant, with the memories that this was said of."""
    require(actor, "read")
    rt.journal.flush()
    right: dict[str, set[str]] = {}
    left_out = 0
    with rt.read(actor) as tx:
        for each in tx.journal.feedbacks(actor.vault):
            if not each.relevant or each.event is None:
                continue
            event = tx.journal.event(actor.vault, each.event)
            if event is None:
                continue
            refs = _seen(tx, actor, project, each.refs or event.refs)
            left_out += not refs
            if refs and event.query.strip():
                right.setdefault(event.query, set()).update(refs)
    asked = tuple(Question(text, frozenset(refs)) for text, refs in list(right.items())[:MOST])
    return Questions(
        asked,
        "Questions that were asked, with the answers that were called relevant. The search had found those, so the "
        "figures flatter the settings of then: other settings look worse than they are.",
        (f"{left_out} whose memories are gone or out of sight",) if left_out else (),
    )


def held_back(rt: Runtime, actor: Actor, count: int, *, project: str | None) -> Questions:
    """Questions made from memories: the title of one that has a title, else every second telling word of its first
    sentence. The same memories are chosen as long as they are here."""
    require(actor, "read")
    with rt.read(actor) as tx:
        sight = visible(tx, actor, project)
        # Twice as many, since some are too short to make a question of.
        chosen = heapq.nsmallest(2 * count, _all(tx, sight), key=lambda m: hashlib.sha256(m.id.encode()).digest())
    made = [(text, memory) for memory in chosen if (text := made_from(memory))]
    short = len(chosen) - len(made)
    asked = tuple(Question(text, frozenset((memory.id,))) for text, memory in made[:count])
    titled = sum(text == memory.title for text, memory in made[:count])
    return Questions(
        asked,
        f"Questions made from the memories themselves: {titled} titles, and {len(asked) - titled} times half of the "
        "telling words of a first sentence. They use the memories' own words, so they are easier than what people ask, "
        "and kinder to search by words: compare settings with them, do not read them as the quality of recall.",
        (f"{short} too short to make a question of",) if short else (),
    )


def made_from(memory: Memory) -> str:
    """A question that the memory answers, from its own words; empty when they are too few."""
    if memory.title and fold(memory.title) not in fold(memory.text):
        return memory.title
    sentence = next((part for part in _SENTENCE.split(memory.text) if part.strip()), "")
    telling = [word for word in sentence.split() if statement(word).words]
    kept = telling[1::2]
    return " ".join(kept) if len(kept) >= _LEAST_WORDS else ""


def _all(tx: Tx, sight: Filter) -> Iterator[Memory]:
    after: str | None = None
    for _ in range(SCANNED // 500):
        page = tx.memories.select(sight, limit=500, after=after)
        yield from page
        if len(page) < 500:
            return
        after = page[-1].id


def _right(
    rt: Runtime, actor: Actor, project: str | None, refs: list[str], contains: list[str]
) -> tuple[frozenset[str], str]:
    """The memories that are meant, and why there are none."""
    found: set[str] = set()
    why = ""
    for ref in refs:
        try:
            found.add(full_ref(rt, actor, ref))
        except DolmenError as error:
            why = error.message
    with rt.read(actor) as tx:
        right = _seen(tx, actor, project, found)
        for words in contains:
            right |= {m.id for m in containing(tx, visible(tx, actor, project), words, _CONTAINING)}
    return frozenset(right), why or "no memory in sight is the answer"


def _seen(tx: Tx, actor: Actor, project: str | None, refs: Iterable[str]) -> set[str]:
    ids = tuple(ref_id(ref) for ref in refs)
    if not ids:
        return set()
    sight = visible(tx, actor, project, ids=ids)
    return {memory.id for memory in tx.memories.select(sight, limit=len(ids))}


def _lines(lines: Iterable[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise DolmenError("invalid-argument", f"Line {number} is no JSON object.", _SHAPE)
        yield number, row


def _table(lines: Iterable[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        yield from enumerate(csv.DictReader(lines), 2)
    except csv.Error as error:
        raise DolmenError(
            "invalid-argument", f"The table cannot be read: {error}.", "Save it as CSV in UTF-8."
        ) from None


def _words(value: Any) -> list[str]:
    return [word for each in _listed(value) for word in re.split(r"[\s,;|]+", str(each)) if word]


def _listed(value: Any) -> list[Any]:
    return [] if value is None else list(value) if isinstance(value, list | tuple) else [value]
