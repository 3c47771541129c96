"""The text leg: which passages have which tokens, in time that does not grow with the store.

FTS5 answers one token at a time (a quoted string, never a grammar) and tells which passages have it. How good a passage
is, is judged from its own tokens by the caller; here the passages are only ordered by how many of the tokens they have
and how rare those are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain

from dolmen.domain.ranking import damped
from dolmen.store.contract import Filter, Hit
from dolmen.store.filter import Condition, live_only, ordinary, passages
from dolmen.store.indexing import likeliest, worth
from dolmen.store.repositories.numbers import ScopeNumbers
from dolmen.store.session import Row, Value
from dolmen.store.sql import chunks, doubling, queries
from dolmen.store.sqlite.passages import indexable, place
from dolmen.store.sqlite.session import SqliteSession

PROBE = 1000
"""A token found in more passages than this counts as common."""
POSTINGS = 6000
"""Entries of the text index that one search looks at before it leaves common tokens out."""
FEW = 4096
"""So many qualifying passages are scored one by one when a filter lets little through."""
_NEVER = -1
PLACES = 64
"""Scopes that one expression names."""


@dataclass(frozen=True, slots=True)
class Known:
    """How common a token was when the store had so many passages and its clock this value."""

    frequency: int
    total: int
    clock: int


Common = dict[tuple[str, str], Known]
"""Per process: (places, token) -> its frequency. It counts while the index is as it was, for common tokens, which are
slow to count and change little, also later."""
REMEMBERED = 20_000


class WordSearch:
    """The text leg of `contract.Index`, for one transaction."""

    def __init__(self, session: SqliteSession, numbers: ScopeNumbers, common: Common) -> None:
        self._session = session
        self._numbers = numbers
        self._common = common
        self._sql = queries("search", "sqlite")
        self._asked: dict[tuple[tuple[str, ...], str], int] = {}

    # ------------------------------------------------------------------------------------------------- the contract
    def frequencies(self, filter: Filter, tokens: Sequence[str], cap: int) -> tuple[int, dict[str, int]]:
        scopes, places = self._places(filter)
        total = self._total(scopes)
        return total, {token: self._frequency(scopes, places, token, cap, total) for token in tokens}

    def match(self, filter: Filter, tokens: Sequence[str], limit: int) -> list[Hit]:
        scopes, places = self._places(filter)
        total = self._total(scopes)
        found = {token: self._frequency(scopes, places, token, PROBE, total) for token in tokens}
        rare_first = sorted((token for token in found if found[token]), key=lambda token: found[token])
        if not rare_first or limit < 1:
            return []
        weights = {token: worth(token, total, found[token]) for token in rare_first}
        seen = passages(filter, self._numbers.reach(filter))
        chosen = _affordable(rare_first, found)
        if found[chosen[0]] > POSTINGS:
            hits = self._together(seen, places, {token: weights[token] for token in rare_first[:4]}, limit)
        else:
            size = limit if ordinary(filter) else POSTINGS
            hits = self._best(seen, places, {token: weights[token] for token in chosen}, limit, size)
        everything = len(chosen) == len(rare_first) and all(found[token] <= PROBE for token in chosen)
        if len(hits) < limit and not everything:
            few = None if ordinary(filter) else self._among_few(seen, weights, limit)
            hits = self._best(seen, places, weights, limit, POSTINGS, bound=-1) if few is None else few
        return hits

    def likeliest(self, filter: Filter, tokens: Sequence[str], limit: int, keep: int) -> tuple[list[Hit], float]:
        scopes, places = self._places(filter)
        total = self._total(scopes)
        found = {token: self._frequency(scopes, places, token, PROBE, total) for token in tokens}
        if keep < limit and ordinary(filter) and 0 < sum(found.values()) <= POSTINGS:
            weights = {token: worth(token, total, number) for token, number in found.items() if number}
            scores = _highest(self._summed(places, weights), limit)
            if len(scores) > keep:
                lengths: dict[int, int] = dict(self._session.among(self._sql["lengths"], list(scores)))
                average = sum(lengths.values()) / len(lengths)
                order = sorted(scores, key=lambda id: damped(scores[id], lengths[id], average), reverse=True)
                seen = passages(filter, self._numbers.reach(filter))
                hits = self._passing(seen, {id: scores[id] for id in order}, keep)
                if len(hits) == keep:
                    return hits, average
        return likeliest(self.match(filter, tokens, limit), keep)

    # ------------------------------------------------------------------------------------------------ where to look
    def _places(self, filter: Filter) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """Scopes to look at and the prefixes of their tokens."""
        within = self._numbers.reach(filter).scopes if filter.as_of is None else None
        scopes = tuple(self._numbers.every(filter.vault) if within is None else within)
        kinds = (True,) if live_only(filter) else (True, False)
        return scopes, tuple(place(scope, live) for scope in scopes for live in kinds)

    def _total(self, scopes: tuple[int, ...]) -> int:
        rows = self._session.among(self._sql["total"], scopes)
        return int(rows[0][0]) if rows else 0

    # ------------------------------------------------------------------------------------------------ how common
    def _frequency(self, scopes: tuple[int, ...], places: tuple[str, ...], token: str, cap: int, total: int) -> int:
        if not indexable(token):
            return 0
        asked = self._asked.get((places, token))
        if asked is not None:
            return asked
        key = (",".join(places), token)
        known = self._common.get(key)
        if known is not None and self._holds(known, cap, total):
            return known.frequency
        found, reached = 0, 0
        for chunk in chunks(places, PLACES):
            params: dict[str, Value] = {"match": _any(chunk, token), "limit": cap + 1 - found}
            row = self._session.one(self._sql["probe"], params)
            if row and row[0]:
                found, reached = found + row[0], max(reached, row[1])
            if found > cap:
                found = max(found, self._estimate(scopes, found, reached))
                break
        if found > cap or not self._session.writable:
            if len(self._common) >= REMEMBERED:
                self._common.clear()
            # What a writer sees may yet be rolled back, and its value of the clock be given again.
            exact = found <= cap and not self._session.writable
            self._common[key] = Known(found, total, self._clock if exact else _NEVER)
        self._asked[places, token] = found
        return found

    def _holds(self, known: Known, cap: int, total: int) -> bool:
        """Whether a remembered frequency still tells enough, for a caller to whom more than `cap` is many."""
        if known.frequency >= cap:
            return abs(known.total - total) * 10 <= known.total
        return known.clock == self._clock

    @cached_property
    def _clock(self) -> int:
        row = self._session.one(self._sql["clock"])
        return _NEVER if row is None else int(row[0])

    def _estimate(self, scopes: tuple[int, ...], found: int, reached: int) -> int:
        """How often a token is there, after a scan in the order of ids that stopped early."""
        [(first, last)] = self._session.among(self._sql["range"], scopes)
        if first is None:
            return found
        return int(found * (last - first + 1) / max(reached - first + 1, 1))

    # ------------------------------------------------------------------------------------------------ which are best
    def _best(
        self,
        seen: Condition,
        places: tuple[str, ...],
        weights: dict[str, float],
        limit: int,
        size: int,
        bound: int = POSTINGS,
    ) -> list[Hit]:
        """The best hits by these tokens.

        Args:
            size: passages to look at in the first round; more are taken until enough pass the filter.
            bound: entries of each token to look at, -1 for all.
        """
        hits: list[Hit] = []
        done = 0
        while True:
            ranked = self._ranked(places, weights, size, bound)
            hits += self._passing(seen, {row[0]: row[1] for row in ranked[done:]}, limit - len(hits))
            if len(hits) >= limit or len(ranked) < size:
                return hits
            done, size = len(ranked), size * 8

    def _together(self, seen: Condition, places: tuple[str, ...], weights: dict[str, float], limit: int) -> list[Hit]:
        """When even the rarest token is everywhere: passages with all of them, then with the two rarest, then with one;
        of many alike, the newest."""
        scores: dict[int, float] = {}
        tokens = list(weights)
        for some in dict.fromkeys((tuple(tokens), tuple(tokens[:2]), tuple(tokens[:1]))):
            if len(scores) < limit:
                score = sum(weights[token] for token in some)
                match = " AND ".join(f"({_any(places[:PLACES], token)})" for token in some)
                rows = self._session.all(self._sql["newest"], {"match": match, "limit": 2 * limit})
                scores |= {row[0]: score for row in rows if row[0] not in scores}
        return self._passing(seen, scores, limit)

    def _summed(self, places: tuple[str, ...], weights: dict[str, float]) -> dict[int, float]:
        """The weights of the tokens that each passage has, for tokens that are in few: adding them up here takes half
        the time that a `GROUP BY` takes."""
        scores: dict[int, float] = {}
        for token, weight in weights.items():
            for chunk in chunks(places, PLACES):
                rows = self._session.all(self._sql["postings"], {"match": _any(chunk, token)})
                having = dict.fromkeys(chain.from_iterable(rows), weight)
                for id in having.keys() & scores.keys():
                    having[id] += scores[id]
                scores.update(having)
        return scores

    def _ranked(self, places: tuple[str, ...], weights: dict[str, float], size: int, bound: int) -> list[Row]:
        parts: list[str] = []
        params: dict[str, Value] = {"size": size, "bound": bound}
        for token, weight in weights.items():
            for chunk in chunks(places, PLACES):
                i = len(parts)
                parts.append(_POSTINGS.replace("#", str(i)))
                params |= {f"weight_{i}": weight, f"match_{i}": _any(chunk, token)}
        rows: list[Row] = []
        for group in range(0, len(parts), 256):
            filled = self._sql["ranked"].fill(postings=" UNION ALL ".join(parts[group : group + 256]))
            rows += self._session.all(filled, params)
        if len(parts) > 256:
            rows.sort(key=lambda row: (-row[1], -row[0]))
        return rows[:size]

    def _passing(self, seen: Condition, scores: dict[int, float], limit: int) -> list[Hit]:
        """Those that the filter lets through, in the order given."""
        rows: dict[int, Row] = {}
        query = self._sql["hits"].fill(joins=seen.joins, where=seen.where)
        for chunk in doubling(list(scores), limit):
            rows |= {row[0]: row for row in self._session.among(query, chunk, seen.params)}
            if len(rows) >= limit:
                break
        return [_hit(rows[id], score) for id, score in scores.items() if id in rows][:limit]

    def _among_few(self, seen: Condition, weights: dict[str, float], limit: int) -> list[Hit] | None:
        """The best hits by looking at every passage that the filter lets through; None when those are many."""
        query = self._sql["qualifying_texts"].fill(joins=seen.joins, where=seen.where)
        rows = self._session.all(query, {**seen.params, "limit": FEW + 1})
        if len(rows) > FEW:
            return None
        scored: list[Hit] = []
        for row in rows:
            score = sum(weights[token] for token in weights.keys() & set(row[2].split(" ")))
            if score:
                scored.append(_hit(row, score))
        scored.sort(key=lambda hit: (-hit.score, -hit.passage))
        return scored[:limit]


_POSTINGS = (
    "SELECT id, weight FROM (SELECT rowid AS id, :weight_# AS weight FROM passage_text"
    " WHERE passage_text MATCH :match_# LIMIT :bound)"
)


def _highest(scores: dict[int, float], size: int) -> dict[int, float]:
    """The highest scores in their order, the newest passage first among equals. Few tokens make few sums, so they are
    counted, not sorted."""
    counts = sorted(Counter(scores.values()).items(), reverse=True)
    so_far = accumulate(number for _, number in counts)
    least = next((score for (score, _), number in zip(counts, so_far, strict=True) if number >= size), -math.inf)
    best = sorted([(score, id) for id, score in scores.items() if score >= least], reverse=True)
    return {id: score for score, id in best[:size]}


def _affordable(rare_first: list[str], found: dict[str, int]) -> list[str]:
    """The rarest tokens whose entries can all be looked at; at least one."""
    chosen, entries = rare_first[:1], found[rare_first[0]]
    for token in rare_first[1:]:
        entries += found[token]
        if entries > POSTINGS:
            break
        chosen.append(token)
    return chosen


def _any(places: Sequence[str], token: str) -> str:
    """The expression for an indexable token in one of the places. Quoted, so that nothing in it is read as grammar."""
    return " OR ".join([f'"{at}{token}"' for at in places])


def _hit(row: Row, score: float) -> Hit:
    return Hit(passage=row[0], memory=row[1], score=score, tokens=row[2], length=row[3])
