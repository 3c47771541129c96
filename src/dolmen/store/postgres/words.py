"""The text leg: which passages have which tokens, in time that hardly grows with the store.

A token is a lexeme of `tsvector` behind the place that it is found at. Queries are built from quoted lexemes and travel
as parameters: no text reaches a grammar. How good a passage is, the caller judges from its tokens; here passages are
only ordered by how many of the tokens they have and how rare those are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dolmen.domain.ranking import K1, B
from dolmen.store.contract import Filter, Hit
from dolmen.store.filter import Condition, live_only, ordinary, passages
from dolmen.store.indexing import likeliest, worth
from dolmen.store.postgres.session import PostgresSession
from dolmen.store.postgres.sight import Sight, Sights
from dolmen.store.sql import queries

PROBE = 2000
"""A token found in more passages than this counts as common: how many there are is then estimated."""
POSTINGS = 6000
"""Passages that one search looks at before it leaves common tokens out."""
FEW = 4096
"""So many qualifying passages are scored one by one when a filter lets little through."""
STEADY = 100
"""A token in so many passages is counted anew only when the number of passages has changed by a fiftieth: what it is
worth hardly changes, and to count it takes longer than to look for it."""
REMEMBERED = 20_000
"""Tokens that a process remembers."""


@dataclass(frozen=True, slots=True)
class Known:
    """How common a token was when so many passages were in sight, and for a rare one where it is."""

    frequency: int
    total: int
    ids: Sequence[int] | None = None
    exact: bool = True
    """It was counted, not estimated."""


_NOWHERE = Known(0, 0, ())

Common = dict[tuple[tuple[str, ...], str], Known]
"""(places, token) -> frequency. A process keeps those of steady tokens, which are slow to count and change little."""


class WordSearch:
    """The text leg of `contract.Index`, for one transaction."""

    def __init__(self, session: PostgresSession, sights: Sights, common: Common) -> None:
        self._session = session
        self._sights = sights
        self._common = common
        self._asked: Common = {}
        self._sql = queries("search", "postgres")

    def forget(self) -> None:
        """After a change by this transaction."""
        self._asked.clear()

    # ------------------------------------------------------------------------------------------------- the contract
    def frequencies(self, filter: Filter, tokens: Sequence[str], cap: int) -> tuple[int, dict[str, int]]:
        sight = self._sights.look(filter)
        known = self._known(sight, places(filter, sight), tokens, cap)
        return sight.live, {token: known[token].frequency if token in known else 0 for token in tokens}

    def match(self, filter: Filter, tokens: Sequence[str], limit: int) -> list[Hit]:
        sight = self._sights.look(filter)
        where = places(filter, sight)
        known = self._located(sight, where, self._known(sight, where, tokens, PROBE))
        rare_first = sorted((token for token in known if known[token].frequency), key=lambda t: known[t].frequency)
        if not rare_first or limit < 1:
            return []
        weights = {token: worth(token, sight.live, known[token].frequency) for token in rare_first}
        chosen = affordable(rare_first, known)
        seen = passages(filter, sight.reach)
        rare = {token: ids for token in chosen if (ids := known[token].ids) is not None}
        if len(rare) == len(chosen):
            best = self._passing(seen, _scores(rare, weights), limit)
            complete = len(chosen) == len(rare_first)
        else:
            bound = POSTINGS if len(chosen) > 1 else limit + limit // 4  # with one token all are alike
            best = self._best(seen, where, {token: weights[token] for token in chosen}, limit, bound)
            complete = False
        if len(best) == limit or complete:
            return best
        few = None if ordinary(filter) else self._among_few(seen, weights, limit)
        return self._best(seen, where, weights, limit, None) if few is None else few

    def likeliest(self, filter: Filter, tokens: Sequence[str], limit: int, keep: int) -> tuple[list[Hit], float]:
        best = self._best_for_their_length(filter, tokens, limit, keep) if keep < limit and ordinary(filter) else None
        return likeliest(self.match(filter, tokens, limit), keep) if best is None else best

    def _best_for_their_length(
        self, filter: Filter, tokens: Sequence[str], limit: int, keep: int
    ) -> tuple[list[Hit], float] | None:
        """None when that is not all to look at, or too few pass the filter."""
        sight = self._sights.look(filter)
        where = places(filter, sight)
        known = self._located(sight, where, self._known(sight, where, tokens, PROBE))
        found = {token: ids for token, each in known.items() if (ids := each.ids)}
        if len(found) < sum(each.frequency > 0 for each in known.values()) or sum(map(len, found.values())) > POSTINGS:
            return None
        weights = {token: worth(token, sight.live, len(ids)) for token, ids in found.items()}
        scores = _scores(found, weights)
        order = sorted(scores, key=lambda id: (-scores[id], -id))[:limit]
        if len(order) <= keep:
            return None
        seen = passages(filter, sight.reach)
        query = self._sql["likeliest"].fill(joins=seen.joins, where=seen.where)
        asked = {"ids": order, "scores": [scores[id] for id in order], "k1": K1, "b": B, "keep": keep}
        rows = self._session.all(query, {**seen.params, **asked})
        return ([Hit(*row[:5]) for row in rows], rows[0][5]) if len(rows) == keep else None

    # -------------------------------------------------------------------------------------------------- how common
    def _known(self, sight: Sight, where: tuple[str, ...], tokens: Sequence[str], cap: int) -> dict[str, Known]:
        found: dict[str, Known] = {}
        unknown: list[str] = []
        for token in dict.fromkeys(tokens):
            known = self._asked.get((where, token)) or self._common.get((where, token)) or _impossible(token)
            if known is not None and _holds(known, sight.live, cap):
                found[token] = known
            else:
                unknown.append(token)
        if unknown and where:
            found |= self._probe(sight, where, unknown, cap)
        return found

    def _probe(self, sight: Sight, where: tuple[str, ...], tokens: list[str], cap: int) -> dict[str, Known]:
        # A row that is looked at costs as much as all the rest about a token: no more of them than the caller asks for.
        asked = {"vault": sight.vault, "queries": [lexemes(where, token) for token in tokens], "bound": cap + 1}
        rows = self._session.all(self._sql["probe"], asked)
        ends = self._ends(sight) if any(row[1] > cap for row in rows) else (0, 0)
        found: dict[str, Known] = {}
        for place, number, reached, ids in rows:
            key = (where, tokens[place - 1])
            if number <= cap:
                known = Known(number, sight.live, ids or ())
            else:
                known = Known(_estimate(number, reached, *ends), sight.live, exact=False)
            self._asked[key] = found[key[1]] = known
            if number >= STEADY:
                if len(self._common) >= REMEMBERED:
                    self._common.clear()
                self._common[key] = Known(known.frequency, known.total, exact=number <= cap)
        return found

    def _located(self, sight: Sight, where: tuple[str, ...], known: dict[str, Known]) -> dict[str, Known]:
        """The same, and where tokens are whose frequency alone was remembered."""
        lost = [token for token, each in known.items() if each.ids is None and each.frequency <= PROBE]
        return known | self._probe(sight, where, lost, PROBE) if lost else known

    def _ends(self, sight: Sight) -> tuple[int, int]:
        row = self._session.one(self._sql["range"], {"vault": sight.vault, "scopes": list(sight.scopes)})
        return (0, 0) if row is None or row[0] is None else (row[0], row[1])

    # ------------------------------------------------------------------------------------------------ which are best
    def _passing(self, seen: Condition, scores: Mapping[int, float], limit: int) -> list[Hit]:
        """The best that the filter lets through. Most pass, so it looks at few more than are wanted, then at more."""
        query = self._sql["hits"].fill(joins=seen.joins, where=seen.where)
        order = sorted(scores, key=lambda id: (-scores[id], -id))
        hits: list[Hit] = []
        start, size = 0, limit + limit // 8 + 8
        while start < len(order) and len(hits) < limit:
            part = order[start : start + size]
            rows = {row[0]: row for row in self._session.all(query, {**seen.params, "ids": part})}
            hits += [Hit(id, row[1], scores[id], row[2], row[3]) for id in part if (row := rows.get(id))]
            start, size = start + size, size * 4
        return hits[:limit]

    def _best(
        self, seen: Condition, where: tuple[str, ...], weights: Mapping[str, float], limit: int, bound: int | None
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

    def _among_few(self, seen: Condition, weights: Mapping[str, float], limit: int) -> list[Hit] | None:
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


def affordable(rare_first: Sequence[str], known: Mapping[str, Known]) -> list[str]:
    """The rarest tokens whose passages can all be looked at; at least one."""
    chosen, seen = [rare_first[0]], known[rare_first[0]].frequency
    for token in rare_first[1:]:
        seen += known[token].frequency
        if seen > POSTINGS:
            break
        chosen.append(token)
    return chosen


def _scores(found: Mapping[str, Sequence[int]], weights: Mapping[str, float]) -> dict[int, float]:
    """Passages by the weights of the tokens that they have."""
    scores: dict[int, float] = defaultdict(float)
    for token, ids in found.items():
        weight = weights[token]
        for id in ids:
            scores[id] += weight
    return scores


def _impossible(token: str) -> Known | None:
    """No text that is stored holds a NUL or half a surrogate pair, so nothing has such a token."""
    return _NOWHERE if "\0" in token or any("\ud800" <= char <= "\udfff" for char in token) else None


def _holds(known: Known, total: int, cap: int) -> bool:
    """Whether a remembered frequency still tells enough: the vault is about as large, and the token still common."""
    changed = abs(known.total - total)
    if known is _NOWHERE or (known.ids is not None and not changed):
        return True
    if known.frequency >= cap:
        return changed * 10 <= known.total
    return known.exact and changed * 50 <= known.total


def _estimate(found: int, reached: int, first: int, last: int) -> int:
    """How many there are, after a scan in the order of the ids that stopped early."""
    return max(found, int(found * (last - first + 1) / max(reached - first + 1, 1)))
