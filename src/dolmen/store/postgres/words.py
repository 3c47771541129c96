"""The text leg: which passages have which tokens, in time that hardly grows with the store.

A token is a lexeme of `tsvector` behind the place that it is found at. Queries are built from quoted lexemes and travel
as parameters: no text reaches a grammar. How good a passage is, the caller judges from its tokens; here passages are
only ordered by how many of the tokens they have and how rare those are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dolmen.store.contract import Filter, Hit
from dolmen.store.filter import Condition, live_only, ordinary, passages
from dolmen.store.postgres.session import PostgresSession
from dolmen.store.postgres.sight import Sight, look
from dolmen.store.repositories.numbers import ScopeNumbers
from dolmen.store.sql import queries

PROBE = 1000
"""A token found in more passages than this counts as common."""
POSTINGS = 6000
"""Passages that one search looks at before it leaves common tokens out."""
FEW = 4096
"""So many qualifying passages are scored one by one when a filter lets little through."""
REMEMBERED = 20_000
"""Common tokens that a process remembers."""


@dataclass(frozen=True, slots=True)
class Known:
    """How common a token was when so many passages were in sight."""

    frequency: int
    total: int


Common = dict[tuple[tuple[str, ...], str], Known]
"""Per process: (places, token) -> its frequency, for common tokens only: those are slow to count and change little."""


class WordSearch:
    """The text leg of `contract.Index`, for one transaction."""

    def __init__(self, session: PostgresSession, numbers: ScopeNumbers, common: Common) -> None:
        self._session = session
        self._numbers = numbers
        self._common = common
        self._sql = queries("search", "postgres")
        self._asked: Common = {}

    # ------------------------------------------------------------------------------------------------- the contract
    def frequencies(self, filter: Filter, tokens: Sequence[str], cap: int) -> tuple[int, dict[str, int]]:
        sight = look(self._numbers, filter)
        return self._frequencies(sight, places(filter, sight), tokens, cap)

    def match(self, filter: Filter, tokens: Sequence[str], limit: int) -> list[Hit]:
        sight = look(self._numbers, filter)
        where = places(filter, sight)
        total, found = self._frequencies(sight, where, tokens, PROBE)
        rare_first = sorted((token for token in found if found[token]), key=lambda token: found[token])
        if not rare_first or limit < 1:
            return []
        weights = {token: math.log1p((total + 0.5) / (found[token] + 0.5)) for token in rare_first}
        seen = passages(filter, sight.within)
        chosen = affordable(rare_first, found)
        best = self._best(seen, where, {token: weights[token] for token in chosen}, limit, POSTINGS)
        everything = len(chosen) == len(rare_first) and sum(found[token] for token in chosen) <= POSTINGS
        if len(best) >= limit or everything:
            return best
        few = None if ordinary(filter) else self._among_few(seen, weights, limit)
        return self._best(seen, where, weights, limit, None) if few is None else few

    # -------------------------------------------------------------------------------------------------- how common
    def _frequencies(
        self, sight: Sight, where: tuple[str, ...], tokens: Sequence[str], cap: int
    ) -> tuple[int, dict[str, int]]:
        total = sight.totals(self._session)[0]
        counts: dict[str, int] = {}
        unknown: list[str] = []
        for token in dict.fromkeys(tokens):
            known = self._asked.get((where, token)) or self._common.get((where, token))
            if known is not None and _holds(known, total, cap):
                counts[token] = known.frequency
            else:
                unknown.append(token)
        if unknown and where:
            counts |= self._probe(sight, where, unknown, cap, total)
        return total, {token: counts.get(token, 0) for token in tokens}

    def _probe(self, sight: Sight, where: tuple[str, ...], tokens: list[str], cap: int, total: int) -> dict[str, int]:
        asked = {"vault": sight.vault, "queries": [lexemes(where, token) for token in tokens], "bound": cap + 1}
        rows = self._session.all(self._sql["probe"], asked)
        ends = self._ends(sight) if any(row[1] > cap for row in rows) else (0, 0)
        counts = {}
        for place, found, reached in rows:
            token = tokens[place - 1]
            counts[token] = found if found <= cap else _estimate(found, reached, *ends)
            self._asked[where, token] = known = Known(counts[token], total)
            if found > cap:
                if len(self._common) >= REMEMBERED:
                    self._common.clear()
                self._common[where, token] = known
        return counts

    def _ends(self, sight: Sight) -> tuple[int, int]:
        row = self._session.one(self._sql["range"], {"vault": sight.vault, "scopes": list(sight.scopes)})
        return (0, 0) if row is None or row[0] is None else (row[0], row[1])

    # ------------------------------------------------------------------------------------------------ which are best
    def _best(
        self, seen: Condition, where: tuple[str, ...], weights: dict[str, float], limit: int, bound: int | None
    ) -> list[Hit]:
        """The best by these tokens. `bound`: passages to look at for one token, and in all; None for every one."""
        query = self._sql["match"].fill(joins=seen.joins, where=seen.where)
        asked = {
            "queries": [lexemes(where, token) for token in weights],
            "weights": list(weights.values()),
            "bound": bound,
            "most": bound,
            "limit": limit,
        }
        return [Hit(*row) for row in self._session.all(query, {**seen.params, **asked})]

    def _among_few(self, seen: Condition, weights: dict[str, float], limit: int) -> list[Hit] | None:
        """The best by looking at every passage that the filter lets through; None when those are many."""
        query = self._sql["few"].fill(joins=seen.joins, where=seen.where)
        rows = self._session.all(query, {**seen.params, "bound": FEW + 1})
        if len(rows) > FEW:
            return None
        hits = []
        for id, memory, tokens, length in rows:
            score = sum(weights[token] for token in weights.keys() & set(tokens.split(" ")))
            if score:
                hits.append(Hit(id, memory, score, tokens, length))
        hits.sort(key=lambda hit: (-hit.score, -hit.passage))
        return hits[:limit]


def places(filter: Filter, sight: Sight) -> tuple[str, ...]:
    """What stands in front of the tokens of the passages that can pass; the schema says how they are made."""
    kinds = "s" if live_only(filter) else "sx"
    return tuple(f"{kind}{scope}:" for scope in sight.scopes for kind in kinds)


def lexemes(where: Sequence[str], token: str) -> str:
    """A `tsquery` for the token in any of the places. Quoted, so that nothing in it is read as grammar.

    Source: PostgreSQL, "Text Search Types": in quotes, a quote and a backslash are doubled.
    """
    quoted = token.replace("\\", "\\\\").replace("'", "''")
    return " | ".join([f"'{place}{quoted}'" for place in where])


def affordable(rare_first: Sequence[str], found: dict[str, int]) -> list[str]:
    """The rarest tokens whose passages can all be looked at; at least one."""
    chosen, seen = [rare_first[0]], found[rare_first[0]]
    for token in rare_first[1:]:
        seen += found[token]
        if seen > POSTINGS:
            break
        chosen.append(token)
    return chosen


def _holds(known: Known, total: int, cap: int) -> bool:
    """Whether a remembered frequency still tells enough: the vault is about as large, and the token still common."""
    return known.total == total or (abs(known.total - total) * 10 <= known.total and known.frequency >= cap)


def _estimate(found: int, reached: int, first: int, last: int) -> int:
    """How many there are, after a scan in the order of the ids that stopped early."""
    return max(found, int(found * (last - first + 1) / max(reached - first + 1, 1)))
