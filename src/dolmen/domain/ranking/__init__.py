"""From what the two search legs found to one ranked list: scores, fusion, the no-answer floor, soft signals.

Pure arithmetic over numbers that a store supplies. `bm25` scores passages by their words, `fuse` joins them with the
cosines of the vector leg, `signals` applies what age and code say about a memory. Measured by bench/quality.
"""

from dolmen.domain.ranking.context import SHARES, Place, Setting
from dolmen.domain.ranking.fusion import POOL, Background, Ranked, fuse
from dolmen.domain.ranking.signals import Facts, order, recency, signals
from dolmen.domain.ranking.words import K1, B, Lexical, bm25, chance, damped, idf

__all__ = [
    "K1",
    "POOL",
    "SHARES",
    "B",
    "Background",
    "Facts",
    "Lexical",
    "Place",
    "Ranked",
    "Setting",
    "bm25",
    "chance",
    "damped",
    "fuse",
    "idf",
    "order",
    "recency",
    "signals",
]
