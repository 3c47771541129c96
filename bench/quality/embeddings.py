"""Vectors of the sets, computed once and kept in a folder of the user's choice.

Delete the folder after a change to an embedder that does not change its `model` name.
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dolmen.models.contract import Embedder

Question: TypeAlias = tuple[NDArray[np.float32], float | None]
"""The vector to search with, and the cosine to it up to which a passage is unrelated."""

_BATCH = 256


class VectorCache:
    """Vectors by model, role and text, in one SQLite file."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._embedder = embedder
        self._db = sqlite3.connect(folder / "vectors.db", timeout=60)
        self._db.execute("create table if not exists vector(key blob primary key, value blob) without rowid")

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (texts, dim)."""
        return np.stack(self._rows("document", texts, self._embedder.embed_documents))

    def questions(self, texts: Sequence[str]) -> list[Question]:
        rows = self._rows("question", texts, self._embed_questions)
        return [(row[:-1], None if math.isnan(row[-1]) else float(row[-1])) for row in rows]

    def _embed_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = []
        for text in texts:
            unrelated = self._embedder.unrelated(text)
            rows.append(np.append(self._embedder.embed_query(text), math.nan if unrelated is None else unrelated))
        return np.asarray(rows, np.float32)

    def _rows(
        self, role: str, texts: Sequence[str], embed: Callable[[Sequence[str]], NDArray[np.float32]]
    ) -> list[NDArray[np.float32]]:
        keys = [self._key(role, text) for text in texts]
        found = {key: row for key in set(keys) if (row := self._stored(key)) is not None}
        missing = {key: text for key, text in zip(keys, texts) if key not in found}
        todo = sorted(missing.items(), key=lambda item: len(item[1]))  # texts of one length share a run
        started = time.process_time()
        for at in range(0, len(todo), _BATCH):
            part = todo[at : at + _BATCH]
            rows = embed([text for _, text in part])
            found.update((key, row) for (key, _), row in zip(part, rows))
            self._db.executemany(
                "insert or replace into vector values (?, ?)", [(k, row.tobytes()) for (k, _), row in zip(part, rows)]
            )
            self._db.commit()
            print(f"  {role} {at + len(part)}/{len(todo)}, CPU {time.process_time() - started:.0f} s", file=sys.stderr)
        return [found[key] for key in keys]

    def _key(self, role: str, text: str) -> bytes:
        return hashlib.sha256(f"{self._embedder.model}\0{role}\0{text}".encode("utf-8", "replace")).digest()

    def _stored(self, key: bytes) -> NDArray[np.float32] | None:
        row = self._db.execute("select value from vector where key = ?", (key,)).fetchone()
        return np.frombuffer(row[0], np.float32) if row else None
