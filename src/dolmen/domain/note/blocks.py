"""Blocks: the stretches of a note that have an address, and how their ids come from what they say."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from dolmen.domain.note.lines import unmarked

BlockType = Literal["heading", "paragraph", "item", "code", "table", "quote", "html", "rule", "definition"]

BLOCK_ID = re.compile(r"blk_[0-9a-f]{8}(-[0-9]{1,6})?")
ALIKE = 0.5
"""Trigram similarity from which a changed block counts as the same statement in other words."""
_COMPARED = 4_000
"""Characters of a changed block that are compared with what stood there before."""


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of a note's source, from `start` to before `end` (characters)."""

    type: BlockType
    start: int
    end: int
    text: str
    """The lines without the indentation that they have inside of a list, and without the last line break."""
    heading: tuple[str, ...] = ()
    """The headings that it stands under, outermost first; of a heading: those above it."""
    level: int = 0
    """Of a heading: 1 to 6. Of a list item: how deep it is nested, from 0."""
    indent: str = ""
    """What stands in front of every line of a nested list item."""
    parent: int = -1
    """Of a nested list item that is a block of its own: the place of the item around it, in the order of the blocks."""


def states_something(block: Block) -> bool:
    """Whether the block is a statement that can be found, marked and cited; headings and rules only give order."""
    if block.type in ("heading", "rule"):
        return False
    if block.type == "html":
        return bool(_COMMENT.sub("", block.text).strip())
    return bool(unmarked(block.text).strip()) if block.type == "item" else bool(block.text.strip())


_COMMENT = re.compile(r"<!--.*?(-->|\Z)", re.DOTALL)


def mark(block: Block) -> str:
    """Eight hex digits of what the block says. Spacing, line ends and a list item's bullet or number do not count."""
    text = unmarked(block.text) if block.type == "item" else block.text
    if block.type == "code":
        said = "\n".join(line.rstrip() for line in text.splitlines())
    else:
        said = " ".join(text.split())
    return hashlib.sha256(unicodedata.normalize("NFC", said).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def identify(marks: Sequence[str], kept: Sequence[str | None] = ()) -> tuple[str, ...]:
    """An id for each block: the one that it kept, else `blk_` and its mark; a second one of the same gets `-2`.

    Args:
        kept: ids that blocks have from an earlier version of the note, None for new ones; empty when all are new.
    """
    given = list(kept) or [None] * len(marks)
    taken = {id for id in given if id is not None}
    ids: list[str] = []
    next_number: Counter[str] = Counter()
    for digits, id in zip(marks, given, strict=True):
        if id is None:
            id = f"blk_{digits}"
            while id in taken:
                next_number[digits] += 1
                id = f"blk_{digits}-{next_number[digits] + 1}"
            taken.add(id)
        ids.append(id)
    return tuple(ids)


# --------------------------------------------------------------------------------------------------------- two versions
@dataclass(frozen=True, slots=True)
class Matching:
    """Which block of a new version is which one of the old version, by their places."""

    same: tuple[tuple[int, int], ...]
    """(old, new): says the same; it may stand elsewhere."""
    changed: tuple[tuple[int, int], ...]
    """(old, new): the same statement in other words."""


def exchanged(blocks: int, out: range, added: range) -> Matching:
    """What became of each of so many blocks when those of `out` made room for `added` and no other one changed.

    The first new one is the replaced one in other words.
    """
    before = [(n, n) for n in range(out.start)]
    after = [(n, n - out.stop + added.stop) for n in range(out.stop, blocks)]
    return Matching((*before, *after), ((out.start, added.start),) if out and added else ())


def match(old: Sequence[Block], new: Sequence[Block]) -> Matching:
    """What became of each block when nobody said what was edited: by what they say, then by where they stand."""
    before, after = [mark(block) for block in old], [mark(block) for block in new]
    same: list[tuple[int, int]] = []
    gaps: list[tuple[range, range]] = []
    for (a, b), (c, d) in _pieces(before, after):
        if before[a:b] == after[c:d]:
            same += zip(range(a, b), range(c, d))
        else:
            gaps.append((range(a, b), range(c, d)))
    moved = _moved(before, after, gaps)
    same += moved
    gone, come = {a for a, _ in moved}, {c for _, c in moved}
    changed: list[tuple[int, int]] = []
    for removed, added in gaps:
        left, right = [a for a in removed if a not in gone], [c for c in added if c not in come]
        if len(left) == len(right):
            changed += [(a, c) for a, c in zip(left, right) if _alike(old[a], new[c])]
    return Matching(tuple(same), tuple(changed))


def _pieces(before: list[str], after: list[str]) -> Iterable[tuple[tuple[int, int], tuple[int, int]]]:
    """Runs of both versions that correspond, equal or not. What both begin and end with is not compared further: most
    edits touch one place, and the comparison is quadratic at worst."""
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    a, c = len(before) - tail, len(after) - tail
    yield (0, head), (0, head)
    from difflib import SequenceMatcher  # loaded late, as below: whoever only opens a store needs neither

    matcher = SequenceMatcher(None, before[head:a], after[head:c], autojunk=False)
    if min(a, c) - head > _LINED_UP:  # too long to line up: only what moved is looked for
        yield (head, a), (head, c)
    else:
        for _, i1, i2, j1, j2 in matcher.get_opcodes():
            yield (head + i1, head + i2), (head + j1, head + j2)
    yield (a, len(before)), (c, len(after))


_LINED_UP = 3_000


def _moved(before: list[str], after: list[str], gaps: list[tuple[range, range]]) -> list[tuple[int, int]]:
    """What disappeared at one place and says the same at another."""
    places: dict[str, list[int]] = {}
    for _, added in gaps:
        for c in added:
            places.setdefault(after[c], []).append(c)
    return [(a, places[before[a]].pop(0)) for removed, _ in gaps for a in removed if places.get(before[a])]


def _alike(old: Block, new: Block) -> bool:
    if old.type != new.type:
        return False
    from dolmen.domain.text import trigram_similarity

    return trigram_similarity(old.text[:_COMPARED], new.text[:_COMPARED]) >= ALIKE
