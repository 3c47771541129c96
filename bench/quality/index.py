"""Both search legs over one corpus, exact and in memory: what a store supplies to the ranking, without a store."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.quality.data import Corpus
from bench.quality.embeddings import Question, VectorCache
from dolmen.domain.ranking import POOL, Background, Lexical, bm25, chance, idf
from dolmen.domain.text import analyze, passages, weight

MATCHES = 2 * POOL  # what the service asks the store's text index for


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the legs found for one question, by passage number."""

    lexical: dict[int, Lexical]
    cosines: dict[int, float]
    background: Background


class CorpusIndex:
    """Passages of the documents, their tokens and their vectors."""

    def __init__(self, corpus: Corpus, vectors: VectorCache) -> None:
        self.owners: list[str] = []  # document id by passage number
        texts: list[str] = []
        for id, text in zip(corpus.ids, corpus.texts):
            for start, end in passages(text) or [(0, 0)]:
                self.owners.append(id)
                texts.append(text[start:end])
        self._tokens = [analyze(text) for text in texts]
        self._average = sum(map(len, self._tokens)) / len(texts)
        self._postings = _postings(self._tokens)
        self._vectors = vectors.documents(texts)

    def candidates(self, text: str, question: Question) -> Candidates:
        vector, unrelated = question
        cosines = self._vectors @ vector
        nearest = [int(passage) for passage in np.argsort(-cosines, kind="stable")[:POOL]]
        query, total = analyze(text, query=True), len(self.owners)
        frequencies = {token: len(self._postings[token]) for token in query if token in self._postings}
        lexical = self._by_words(query, frequencies, nearest)
        chosen = {*nearest, *lexical}
        by_chance = chance(query, total, frequencies)
        background = Background(float(cosines.mean()), float(cosines.std()), unrelated, total, by_chance)
        return Candidates(lexical, {passage: float(cosines[passage]) for passage in chosen}, background)

    def _by_words(
        self, query: Sequence[str], frequencies: Mapping[str, int], nearest: Sequence[int]
    ) -> dict[int, Lexical]:
        """The best by their words, and what the words say of the nearest."""
        total = len(self.owners)
        worth = np.zeros(total)
        for token, frequency in frequencies.items():
            worth[self._postings[token]] += weight(token) * idf(total, frequency)
        matched = [int(p) for p in np.argsort(-worth, kind="stable")[:MATCHES] if worth[p] > 0]
        tokens = {p: self._tokens[p] for p in (*matched, *nearest)}
        scored = bm25(query, tokens, total, frequencies, self._average)
        best = sorted((p for p in matched if p in scored), key=lambda passage: (-scored[passage].score, passage))[:POOL]
        return {passage: scored[passage] for passage in (*best, *nearest) if passage in scored}


def _postings(tokens: Sequence[Sequence[str]]) -> dict[str, NDArray[np.int64]]:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for passage, of_passage in enumerate(tokens):
        for token in Counter(of_passage):
            found[token].append(passage)
    return {token: np.array(passages) for token, passages in found.items()}
