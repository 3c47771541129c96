"""How good is the ranking? One table: each set by words alone, by vectors alone, by both.

    python -m bench.quality --data ../shared/bench/data

The figures are those of the domain's ranking over exact legs in memory; `bench/retrieval` measures the whole service.
The first run embeds every passage (half an hour on one core); later ones take some minutes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.quality.data import Corpus, Query, corpora, sets
from bench.quality.embeddings import VectorCache
from bench.quality.index import Candidates, CorpusIndex
from bench.quality.metrics import CORE, figure, measure
from bench.quality.unanswerable import foreign_questions
from dolmen.domain.ranking import POOL, fuse
from dolmen.models.choose import EmbedderSettings, choose

DEPTH = 10  # results of one answer
LARGE = "beam500k"  # embedded only when it is named


@dataclass(slots=True)
class Row:
    """The results on one set."""

    figures: dict[str, list[float]] = field(default_factory=dict)  # by way of ranking
    returned: list[int] = field(default_factory=list)  # results per question
    precise: list[float] = field(default_factory=list)  # share of the returned ones that were wanted
    silent: list[bool] = field(default_factory=list)  # unanswerable questions: nothing returned
    candid: list[bool] = field(default_factory=list)  # unanswerable questions: nothing, or every result called weak

    def add(self, way: str, value: float) -> None:
        self.figures.setdefault(way, []).append(value)


def by_words(found: Candidates) -> list[int]:
    return [entry.id for entry in fuse(found.lexical, {})]


def by_vectors(found: Candidates) -> list[int]:
    return sorted(found.cosines, key=lambda passage: -found.cosines[passage])


def by_ranks(found: Candidates) -> list[int]:
    """Reciprocal rank fusion, k = 60, of the two legs with equal weight: the documented baseline."""
    legs = (sorted(found.lexical, key=lambda passage: -found.lexical[passage].score), by_vectors(found)[:POOL])
    scores: dict[int, float] = {}
    for leg in legs:
        for rank, passage in enumerate(leg, 1):
            scores[passage] = scores.get(passage, 0.0) + 1 / (60 + rank)
    return sorted(scores, key=lambda passage: -scores[passage])


def fused(found: Candidates) -> list[int]:
    return [entry.id for entry in fuse(found.lexical, found.cosines, found.background)]


WAYS: dict[str, Callable[[Candidates], list[int]]] = {
    "words": by_words,
    "vectors": by_vectors,
    "ranks": by_ranks,
    "fused": fused,  # the last one is what the product does
}


def run(name: str, folder: Path, vectors: VectorCache, limit: int | None, foreign: Sequence[str]) -> Row:
    """Measures one set; at most `limit` questions of each corpus."""
    row = Row()
    for corpus in corpora(folder, name):
        index = CorpusIndex(corpus, vectors)
        queries = list(itertools.islice(_asked(corpus, name), limit))
        for query, question in zip(queries, vectors.questions([query.text for query in queries])):
            found = index.candidates(query.text, question)
            for way, rank in WAYS.items():
                ids = [index.owners[passage] for passage in rank(found)]
                row.add(way, measure(ids, query.gold, figure(name)))
            answer = list(dict.fromkeys(ids))[:DEPTH]
            row.returned.append(len(answer))
            row.precise.append(sum(id in query.gold for id in answer) / max(1, len(answer)))
        for text, question in zip(foreign, vectors.questions(foreign)):
            found = index.candidates(text, question)
            answers = fuse(found.lexical, found.cosines, found.background)[:DEPTH]
            row.silent.append(not answers)
            row.candid.append(all(entry.weak for entry in answers))
    return row


def _asked(corpus: Corpus, name: str) -> Iterator[Query]:
    core = figure(name).core
    return (query for query in corpus.queries if not core or query.category in CORE)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.quality", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/bench/data"), help="folder of the sets")
    parser.add_argument("--cache", type=Path, default=Path("bench/out/vectors"), help="folder for the vectors")
    parser.add_argument("--sets", help="comma list; all but the largest when left out")
    parser.add_argument("--limit", type=int, help="questions per corpus, to be quick")
    parser.add_argument("--json", action="store_true", help="one JSON object a set instead of the table")
    options = parser.parse_args()
    names = options.sets.split(",") if options.sets else [n for n in sets(options.data) if n != LARGE]
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    embedder = choose(EmbedderSettings()).embedder
    vectors = VectorCache(embedder, options.cache)
    if not options.json:
        print(f"{embedder.model}, {time.strftime('%Y-%m-%d')}\n")
        print(f"| set | questions | figure | {' | '.join(WAYS)} | returned | precision | no answer | candid |")
        print("|---|---|---|" + "---|" * (len(WAYS) + 4))
    for name in names:
        row = run(name, options.data, vectors, options.limit, foreign_questions(options.data, name))
        print(_json(name, row) if options.json else _line(name, row), flush=True)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(1, len(values))


def _line(name: str, row: Row) -> str:
    figures = " | ".join(f"{_mean(values):.3f}" for values in row.figures.values())
    asked = len(row.returned)
    rest = f"{_mean(row.returned):.1f} | {_mean(row.precise):.2f} | {_mean(row.silent):.2f} | {_mean(row.candid):.2f}"
    return f"| {name} | {asked} | {figure(name).label} | {figures} | {rest} |"


def _json(name: str, row: Row) -> str:
    figures = {way: round(_mean(values), 4) for way, values in row.figures.items()}
    return json.dumps(
        {
            "set": name,
            "questions": len(row.returned),
            "figure": figure(name).label,
            **figures,
            "returned": round(_mean(row.returned), 2),
            "precision": round(_mean(row.precise), 3),
            "no_answer": round(_mean(row.silent), 3),
            "candid": round(_mean(row.candid), 3),
        }
    )


if __name__ == "__main__":
    main()
