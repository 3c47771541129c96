"""The text leg: how much of a question's information the words of a passage cover, and BM25."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from dolmen.domain.text import weight

Id = TypeVar("Id", bound=Hashable)

_NAME = re.compile(r"@|(?!(?:19|20)\d\d$)(?=.*\d)\w{4,}$")  # an identifier, a ticket, a port, a hash; not a year

K1 = 1.2
B = 0.6
RARE = 0.02
"""An identifier in at most this share of the passages is what a query that names it is about."""


@dataclass(frozen=True, slots=True)
class Lexical:
    """What the words say about one passage."""

    score: float
    """BM25, weighted by token class; comparable within one query only."""
    coverage: float
    """0 to 1: the share of the query's information (weight times rarity) that the passage's words cover."""
    exact: bool = False
    """It has the identifier that the query is about."""


def idf(total: int, frequency: int) -> float:
    """Information of a token that `frequency` of `total` passages have (BM25's, never negative)."""
    frequency = min(frequency, total)
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def bm25(
    query: Sequence[str],
    passages: Mapping[Id, Sequence[str]],
    total: int,
    frequencies: Mapping[str, int],
    average_length: float | None = None,
) -> dict[Id, Lexical]:
    """Scores candidate passages by their tokens.

    Args:
        query: distinct tokens of `analyze(query, query=True)`.
        passages: tokens of each candidate, repeats kept.
        total: number of passages in sight; at least the number of candidates.
        frequencies: for each query token, in how many of them it is. A missing one counts as absent.
        average_length: tokens of an average passage; None takes the candidates' own.

    Returns:
        One entry per candidate that has any query token.
    """
    worth = {token: weight(token) * idf(total, frequencies.get(token, 0)) for token in query}
    identifiers = _identifiers(query, worth, total, frequencies)
    information = sum(worth.values()) or 1.0
    mean = average_length or (sum(map(len, passages.values())) / len(passages) if passages else 1.0) or 1.0
    found: dict[Id, Lexical] = {}
    for id, tokens in passages.items():
        said = list(filter(worth.__contains__, tokens))
        if not said:
            continue
        once = dict.fromkeys(said)
        norm = K1 * (1 - B + B * len(tokens) / mean)
        value = sum(map(worth.__getitem__, once))
        if len(once) == len(said):  # each token once, as in most passages
            score = value * (K1 + 1) / (1 + norm)
        else:
            score = sum(worth[t] * (n := said.count(t)) * (K1 + 1) / (n + norm) for t in once)
        found[id] = Lexical(score, value / information, not identifiers.isdisjoint(once))
    return found


def chance(query: Sequence[str], total: int, frequencies: Mapping[str, int]) -> float:
    """The coverage of an average passage: what words have in common with it that are everywhere.

    Args:
        query, total, frequencies: as for `bm25`.
    """
    if not total:
        return 0.0
    worth = {token: weight(token) * idf(total, frequencies.get(token, 0)) for token in query}
    expected = sum(value * min(1.0, frequencies.get(token, 0) / total) for token, value in worth.items())
    return expected / (sum(worth.values()) or 1.0)


def damped(score: float, length: int, average: float) -> float:
    """The score of a passage that has each token once, lowered as BM25 lowers it for a long one."""
    return score / (1 + K1 * (1 - B + B * length / average))


def _identifiers(
    query: Sequence[str], worth: Mapping[str, float], total: int, frequencies: Mapping[str, int]
) -> frozenset[str]:
    """The rare identifiers of a query that is about them: half or more of what its known words say (B020)."""
    rare = max(3.0, total * RARE)
    named = frozenset(t for t in query if _NAME.match(t) and 0 < frequencies.get(t, 0) <= rare)
    known = sum(value for token, value in worth.items() if frequencies.get(token, 0))
    inside = sum(worth[token] for token in query if token in named or _part_of(token, named))
    return named if inside >= 0.5 * known else frozenset()


def _part_of(token: str, identifiers: Iterable[str]) -> bool:
    return any(token in identifier[1:].split("_") for identifier in identifiers)
