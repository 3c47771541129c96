"""Text to token ids: SentencePiece unigram as XLM-R uses it, word by word."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from dolmen.models.e5.pieces import PieceIndex
from dolmen.models.e5.weights import Vocabulary
from dolmen.models.text import printable

WINDOW = 512  # tokens, with the begin and end marks; the model has no position past it
_SPACE = "\u2581"  # how SentencePiece writes a word's leading space
_UNKNOWN_PENALTY = 10.0  # below the rarest piece, as SentencePiece does
_CACHED_WORDS = 8_192
_MOST_CHARACTERS = 16 * WINDOW  # nothing past this can still be inside the window: a piece has 16 characters at most
_LONGEST_WORD = 2_048


class Tokenizer:
    """Safe from several threads. Words repeat, so the pieces of recent words are remembered."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._pieces = PieceIndex(vocabulary)
        self._scores = vocabulary.scores
        self._begin, self._end, self._unknown = vocabulary.begin, vocabulary.end, vocabulary.unknown
        self._unknown_score = float(vocabulary.scores.min()) - _UNKNOWN_PENALTY
        self._word = lru_cache(maxsize=_CACHED_WORDS)(self._split_word)

    def tokens(self, text: str) -> list[int]:
        """Token ids of the text with begin and end marks, at most `WINDOW`; what is beyond it is left out."""
        ids = [self._begin]
        for word in printable(text.replace(_SPACE, " "), _MOST_CHARACTERS).split(" "):
            for piece in self._word(word[:_LONGEST_WORD]):
                if piece != self._unknown or ids[-1] != self._unknown:  # a run of unknown characters is one token
                    ids.append(piece)
            if len(ids) >= WINDOW:
                break
        return [*ids[: WINDOW - 1], self._end]

    def likelihood(self, text: str) -> float:
        """Mean natural logarithm of the probability of a character of the text, as the vocabulary was trained: about -3
        for English words, -8 for Korean ones, less for letters in no order. 0 for nothing, minus infinity when the
        vocabulary knows no character of it."""
        characters = sum(not c.isspace() for c in text)
        ids = self.tokens(text)[1:-1]
        if characters and not set(ids) - {self._unknown, *self._word("")}:
            return float("-inf")
        total = sum(self._unknown_score if id == self._unknown else float(self._scores[id]) for id in ids)
        return total / characters if characters else 0.0

    def _split_word(self, word: str) -> tuple[int, ...]:
        """The most probable way to cut one word into pieces (Viterbi)."""
        word = _SPACE + word
        length = len(word)
        best = [0.0] + [float("-inf")] * length
        back = [(0, self._unknown)] * (length + 1)
        done = 0
        for start, end, piece, score in self._pieces.in_word(word):
            while done < start:  # an unknown character is the way on where no piece is
                self._step_unknown(best, back, done)
                done += 1
            if best[start] + score > best[end]:
                best[end], back[end] = best[start] + score, (start, piece)
        for at in range(done, length):
            self._step_unknown(best, back, at)
        return tuple(_walk_back(back, length))[::-1]

    def _step_unknown(self, best: list[float], back: list[tuple[int, int]], at: int) -> None:
        score = best[at] + self._unknown_score
        if score > best[at + 1]:
            best[at + 1], back[at + 1] = score, (at, self._unknown)


def _walk_back(back: list[tuple[int, int]], end: int) -> Iterator[int]:
    while end:
        end, piece = back[end]
        yield piece
