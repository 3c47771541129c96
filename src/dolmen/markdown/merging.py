"""Two versions of a note that came from one, put together block by block."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from dolmen.domain.note.merging import combine
from dolmen.markdown.parsing import parse


@dataclass(frozen=True, slots=True)
class Merged:
    """A source with the changes of two versions."""

    source: str
    clash: bool
    """Both changed the same blocks; those are as `mine` has them."""


def merge_sources(base: str, mine: str, theirs: str) -> Merged:
    """What `mine` and `theirs` made of `base`, together."""
    both = combine(parts_of(base), parts_of(mine), parts_of(theirs))
    return Merged("".join(both.parts), both.clash)


def parts_of(source: str) -> list[str]:
    """The source cut where its blocks begin; what stands in front of the first one is a part of its own."""
    starts = sorted({block.start for block in parse(source).blocks if block.parent < 0})
    edges = [0, *(start for start in starts if start > 0), len(source)]
    return [source[a:b] for a, b in pairwise(edges) if a < b]
