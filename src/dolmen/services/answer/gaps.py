"""What a question names and nothing in memory covers: said, not filled (C-190)."""

from __future__ import annotations

import re

from dolmen.domain.text import analyze, weight
from dolmen.services.search import Query, Result

_MOST = 12
_TELLING = 0.4
"""Weight of a token from which its absence says something."""
_LONGEST = 80
"""Characters of a word that is repeated to the reader."""
_AROUND = ".,;:!?\"'()[]{}`“”‘’「」«»。、，？！"
_QUOTED = re.compile(r"[\"“«「`]([^\"”»」`]{2,80})[\"”»」`]")


def gaps_of(query: Query, result: Result, shown: int) -> list[str]:
    """Words of the query that nothing in sight has: names, identifiers and what is quoted always, others when no answer
    is sure.

    Args:
        shown: candidates of this page; what none of them is sure of is not covered.
    """
    if not result.searched:
        return []
    asked = set(query.tokens)  # of a long query only some tokens were looked up; the others are not known to be absent
    sure = any(not found.weak for found in result.found[:shown])
    quoted = {word for phrase in _QUOTED.findall(query.text) for word in phrase.split()}
    times = {word for each in result.ranges for word in each.words.split()}
    missing: list[str] = []
    for word in dict.fromkeys(query.text.split()):
        tokens = [token for token in analyze(word, query=True) if weight(token) >= _TELLING]
        if not tokens or not asked.issuperset(tokens) or any(result.frequencies.get(t, 0) for t in tokens):
            continue
        bare = word.strip(_AROUND)
        if bare.lower() in times:
            continue
        if bare and (not sure or _is_name(bare, first=query.text.startswith(word)) or bare in quoted):
            missing.append(bare if len(bare) <= _LONGEST else f"{bare[:_LONGEST]}…")
    return missing[:_MOST]


def _is_name(word: str, *, first: bool) -> bool:
    if any(c.isdigit() or c in "_/.:@-" for c in word) or any(c.isupper() for c in word[1:]):
        return True
    return word[:1].isupper() and not first
