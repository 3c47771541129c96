"""Arithmetic on vectors that every embedder shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dolmen.models.contract import Vectors


def unit(rows: Vectors) -> Vectors:
    """Rows scaled to length 1 as float32; a row of zeros stays zeros."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Vectors = (rows / np.maximum(length, 1e-12)).astype(np.float32, copy=False)
    return scaled
