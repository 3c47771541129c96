"""The two legs, words and meaning: what each finds, what each says of the other, and what stands beside that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from dolmen.domain.ranking import POOL, Background, Lexical, Setting, bm25, chance
from dolmen.domain.text import weight
from dolmen.services.search.query import Query
from dolmen.store.contract import Filter, Hit, Tx

_WIDE, _ALONE = 128, 32
"""Candidates, and those whose tokens are looked at, when words decide alone. With 200 and 64 the public sets come
out the same."""
COMMON = 1_000
"""A token in more passages than this does not choose candidates while rarer ones do; it still scores them."""
CANDIDATES = 2_000
"""Passages that the candidate tokens may touch together: what keeps recall flat as a vault grows."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Passages that may answer, by id, with all that both legs know of them."""

    hits: Mapping[int, Hit]
    lexical: Mapping[int, Lexical]
    """Of every hit that has a word of the question and is among the best by words or near."""
    cosines: Mapping[int, float]
    background: Background | None
    setting: Setting[int] | None
    """What stands beside them in their sessions; None where none has one."""
    frequencies: Mapping[str, int]
    """Per query token: passages in sight that have it."""
    total: int
    """Passages in sight."""


def candidates(tx: Tx, sight: Filter, query: Query, limit: int) -> Candidates:
    """The likeliest passages of each leg, judged by both.

    Args:
        limit: memories wanted.
    """
    most = max(POOL, limit)
    total, counts = tx.index.frequencies(sight, query.tokens, COMMON) if query.tokens else (0, {})
    # Beside vectors each candidate may still matter; words alone decide among those that they put first.
    wide, keep = (_WIDE, _ALONE) if query.vector is None else (2 * POOL, 2 * POOL)
    chosen = choose(query.tokens, counts)
    words, average = tx.index.likeliest(sight, chosen, max(wide, 2 * limit), max(keep, 2 * limit))
    model = None if query.vector is None else tx.index.find_model(query.model, query.dim)
    near = [] if query.vector is None or model is None else tx.index.nearest(sight, model, query.vector, most)
    hits = {hit.passage: hit for hit in (*near, *words)}
    lexical = bm25(query.tokens, _Tokens(hits.values()), max(total, len(hits)), counts, average)
    cosines = {hit.passage: hit.score for hit in near}
    by_words = sorted(
        (hit.passage for hit in words if hit.passage in lexical),
        key=lambda id: (not lexical[id].exact, -lexical[id].score),
    )
    kept = dict.fromkeys([*by_words[:most], *cosines])
    lexical = {id: lexical[id] for id in kept if id in lexical}
    setting = _setting(tx, sight, {id: hits[id].memory for id in kept})
    if query.vector is None or model is None:
        return Candidates(hits, lexical, {}, None, setting, counts, total)
    if missing := [id for id in lexical if id not in cosines]:
        cosines |= tx.index.cosines(sight.vault, model, query.vector, missing)
    mean, deviation = tx.index.background(sight, model, query.vector) or (None, None)
    by_chance = chance(query.tokens, total, counts)
    background = Background(mean, deviation, query.unrelated, total, by_chance)
    return Candidates(hits, lexical, cosines, background, setting, counts, total)


def _setting(tx: Tx, sight: Filter, owners: Mapping[int, str]) -> Setting[int] | None:
    places = tx.memories.places(sight.vault, list(dict.fromkeys(owners.values())))
    return Setting(owners, places) if places else None


def choose(tokens: tuple[str, ...], counts: Mapping[str, int]) -> list[str]:
    """The tokens that pick candidates: the rarest first, until they would touch too many passages."""
    present = sorted((t for t in tokens if counts.get(t, 0) > 0), key=lambda t: (counts[t], -weight(t)))
    chosen: list[str] = []
    touched = 0
    for token in present:
        if chosen and touched + counts[token] > CANDIDATES:
            break
        chosen.append(token)
        touched += counts[token]
    return chosen


class _Tokens(Mapping[int, list[str]]):
    """The tokens of each passage, split when it is its turn: all at once they are a megabyte of small strings, and
    getting that from the system and giving it back took a quarter of a recall."""

    def __init__(self, hits: Iterable[Hit]) -> None:
        self._texts = {hit.passage: hit.tokens for hit in hits}

    def __getitem__(self, passage: int) -> list[str]:
        return self._texts[passage].split(" ")

    def __iter__(self) -> Iterator[int]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)
