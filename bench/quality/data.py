"""The retrieval sets: one gzipped JSON Lines file each, one corpus a line (see the README beside the data)."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SUFFIX = ".dev.jsonl.gz"


@dataclass(frozen=True, slots=True)
class Query:
    """A question and the documents that answer it."""

    id: str
    text: str
    gold: dict[str, float]  # document id -> gain
    category: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """A store of its own: nothing is searched across corpora."""

    name: str
    ids: list[str]
    texts: list[str]
    queries: list[Query]


def sets(folder: Path) -> list[str]:
    """Names of the sets in the folder."""
    return sorted(path.name.removesuffix(SUFFIX) for path in folder.glob("*" + SUFFIX))


def corpora(folder: Path, name: str) -> Iterator[Corpus]:
    with gzip.open(folder / (name + SUFFIX), "rt", encoding="utf-8") as lines:
        for line in lines:
            raw = json.loads(line)
            queries = [Query(q["id"], q["text"], q["gold"], q["cat"]) for q in raw["queries"]]
            docs = raw["docs"]
            yield Corpus(raw["name"], [d[0] for d in docs], [d[1] for d in docs], queries)
