"""What is particular to questions: their language must not decide what they find, and not everything is an answer.

The model's vectors of one language lie close together, so a Korean question is nearer to any Korean text than to its
English answer, and every cosine is near 0.75. Both are mended on the question alone; the stored vectors stay as the
model made them. Constants measured by bench/quality, means taken from passages of each language.
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dolmen.models.contract import Vector

MEANS = "language_means.npz"
SHIFT = 0.55
"""How much of the mean of Korean text is taken out of a Korean question."""
MARGIN, MARGIN_KOREAN = 0.015, 0.005
"""Above the cosine to text in general, how near the nearest of ten unrelated passages comes. Less is asked of what a
Korean question finds, because its English answers are farther away."""

BABBLE = -4.5
"""Log-probability of a character below which Latin words are letters in no order. Of 8,000 questions of public sets one
in fifty lies below it, those with short words and digits, which `babble` leaves alone."""
_SHORTEST = 4


def babble(text: str, likelihood: float) -> bool:
    """Whether a question says nothing in any language: no letters, none that the model knows, loose Hangul letters,
    or Latin letters in no order.

    A model gives it a vector all the same, near to something. Only what has words that a store knows is searched for
    then; names and abbreviations, which look alike, are found by their words.
    """
    letters = [c for c in text if c.isalpha()]
    if not letters or likelihood == float("-inf") or all("\u3131" <= c <= "\u318e" for c in letters):
        return True
    words = text.split()
    return likelihood < BABBLE and all(w.isascii() and w.isalpha() and len(w) >= _SHORTEST for w in words)


class Questions:
    """Mean vectors of English and Korean passages, and what follows from them."""

    def __init__(self) -> None:
        with resources.files(__package__).joinpath(MEANS).open("rb") as file, np.load(file) as means:
            self._english: Vector = means["en"].reshape(-1)
            self._korean: Vector = means["ko"].reshape(-1)
        self._general = (self._english + self._korean) / 2
        self._axis = (self._korean - self._english) / np.linalg.norm(self._korean - self._english)

    def aim(self, question: Vector) -> tuple[Vector, float]:
        """The unit vector to search with, and the cosine to it up to which a passage is unrelated to the question."""
        korean = self._koreanness(question)
        aimed = question - SHIFT * korean * self._korean
        aimed /= np.linalg.norm(aimed)
        background = self._general + korean * (self._english - self._general)
        margin = MARGIN + korean * (MARGIN_KOREAN - MARGIN)
        return aimed.astype(np.float32), float(aimed @ background) + margin

    def _koreanness(self, question: Vector) -> float:
        """0 for a question in English and languages like it, 1 for one in Korean, between them for Japanese."""
        low, high = float(self._english @ self._axis), float(self._korean @ self._axis)
        along = (float(question @ self._axis) - low) / (high - low)
        return min(1.0, max(0.0, 2 * along - 1))
