"""What a question names and nothing in memory covers: said, not filled (C-190)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from dolmen.domain.text import analyze, weight
from dolmen.services.search import Found, Query, Result

_MOST = 12
_TELLING = 0.4
"""Weight of a token from which its absence says something."""
_COVERED = 0.35
"""Share of what the question names that one answer has, from which a word that no memory has may be another word for
what it says: `retain` where it says `keep`."""
_MANY = 500
"""Passages from which a word that is in none of them says something; of less memory most words are absent."""
_LONGEST = 80
"""Characters of a word that is repeated to the reader."""
_AROUND = ".,;:!?\"'()[]{}`“”‘’「」«»。、，？！"
_QUOTED = re.compile(r"[\"“«「`]([^\"”»」`]{2,80})[\"”»」`]")


def gaps_of(query: Query, result: Result, shown: int) -> list[str]:
    """Words of the query that nothing in sight has: names, identifiers and what is quoted always, others when no answer
    is sure, or when in much memory none has much of what else the query names.

    Args:
        shown: candidates of this page; what none of them is sure of is not covered.
    """
    if not result.searched:
        return []
    asked = set(query.tokens)  # of a long query only some tokens were looked up; the others are not known to be absent
    words = {word: [t for t in analyze(word, query=True) if weight(t) >= _TELLING] for word in query.text.split()}
    answers = [found for found in result.found[:shown] if not found.weak]
    sure = bool(answers)
    if sure and result.passages >= _MANY:
        sure = _covered(words.values(), answers, result.frequencies) >= _COVERED
    quoted = {word for phrase in _QUOTED.findall(query.text) for word in phrase.split()}
    times = {word for each in result.ranges for word in each.words.split()}
    missing: list[str] = []
    for word, tokens in words.items():
        if (
            all(map(_is_form, tokens))
            or not asked.issuperset(tokens)
            or any(result.frequencies.get(t, 0) for t in tokens)
        ):
            continue
        bare = word.strip(_AROUND)
        if bare.lower() in times:
            continue
        if bare and (not sure or _is_name(bare, first=query.text.startswith(word)) or bare in quoted):
            missing.append(bare if len(bare) <= _LONGEST else f"{bare[:_LONGEST]}…")
    return missing[:_MOST]


def _is_form(token: str) -> bool:
    """Whether it is the exact form of a word that counts besides: alone it is that of a function word, `did`."""
    return token.startswith("=")


def _covered(words: Iterable[Sequence[str]], answers: Sequence[Found], frequencies: Mapping[str, int]) -> float:
    """The greatest share of the query's words that one answer has; a rare word tells more, one that is nowhere most."""
    telling = {
        tuple(tokens): 1 / (1 + math.log1p(max(frequencies.get(token, 0) for token in tokens)))
        for tokens in words
        if tokens
    }
    whole = sum(telling.values())
    if not whole or any(found.exact or not found.tokens for found in answers):
        return 1.0
    return (
        max(
            sum(worth for tokens, worth in telling.items() if not passage.isdisjoint(tokens))
            for passage in (set(found.tokens.split(" ")) for found in answers)
        )
        / whole
    )


def _is_name(word: str, *, first: bool) -> bool:
    if any(c.isdigit() or c in "_/.:@-" for c in word) or any(c.isupper() for c in word[1:]):
        return True
    return word[:1].isupper() and not first
