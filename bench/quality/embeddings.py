"""Vectors of the sets, computed once and kept in a folder of the user's choice."""

from __future__ import annotations

import hashlib
import sqlite3
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dolmen.models.contract import Embedder

_BATCH = 256


class VectorCache:
    """Vectors by model, role and text, in one SQLite file."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._embedder = embedder
        self._db = sqlite3.connect(folder / "vectors.db", timeout=60)
        self._db.execute("create table if not exists vector(key blob primary key, value blob) without rowid")

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._get(texts, "document")

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._get(texts, "query")

    def _get(self, texts: Sequence[str], role: str) -> NDArray[np.float32]:
        keys = [hashlib.sha256(f"{self._embedder.model}\0{role}\0{text}".encode("utf-8", "replace")).digest() for text in texts]
        found = {key: self._stored(key) for key in keys}
        missing = {key: text for key, text in zip(keys, texts) if found[key] is None}
        todo = sorted(missing.items(), key=lambda item: len(item[1]))
        started = time.process_time()
        for at in range(0, len(todo), _BATCH):
            part = todo[at : at + _BATCH]
            if role == "document":
                vectors = self._embedder.embed_documents([text for _, text in part])
            else:
                vectors = np.stack([self._embedder.embed_query(text) for _, text in part])
            self._db.executemany(
                "insert or replace into vector values (?, ?)", [(key, v.tobytes()) for (key, _), v in zip(part, vectors)]
            )
            self._db.commit()
            found.update((key, vector) for (key, _), vector in zip(part, vectors))
            print(f"  {role} {at + len(part)}/{len(todo)}, CPU {time.process_time() - started:.0f} s", file=sys.stderr)
        rows = [vector for key in keys if (vector := found[key]) is not None]
        return np.stack(rows) if rows else np.empty((0, self._embedder.dim), np.float32)

    def _stored(self, key: bytes) -> NDArray[np.float32] | None:
        row = self._db.execute("select value from vector where key = ?", (key,)).fetchone()
        return np.frombuffer(row[0], np.float32) if row else None
