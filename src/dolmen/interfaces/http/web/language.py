"""The words of the pages, in the languages that they speak."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from starlette.requests import Request

from dolmen.interfaces.http.web.remembering import language_cookie

LANGUAGES = ("en", "ko")
NAMES = {"en": "English", "ko": "한국어"}
"""Each language by its own name, for those who read no other."""
_REFUSAL = "problem: "
"""Begins the name of a sentence that stands for a refusal; its message in English follows, with `{…}` for what is
filled in."""


def spoken(request: Request) -> str:
    """The language of the pages for whoever asks: the one that they chose, or else what their browser prefers."""
    chosen = language_cookie(secure=True).read(request) or language_cookie(secure=False).read(request)
    return chosen if chosen in LANGUAGES else preferred(request.headers.get("accept-language", ""))


def preferred(accepted: str) -> str:
    """The language of an `Accept-Language` header that the pages speak; English for any other."""
    weighed: list[tuple[float, int, str]] = []
    for place, entry in enumerate(accepted[:500].split(",")):
        name, _, parameters = entry.strip().partition(";")
        try:
            weight = float(parameters.strip().removeprefix("q=")) if parameters else 1.0
        except ValueError:
            continue
        weighed.append((-weight, place, name.strip().lower().partition("-")[0]))
    return next((name for weight, _, name in sorted(weighed) if name in LANGUAGES and weight < 0), LANGUAGES[0])


@cache
def words(language: str) -> Mapping[str, str]:
    """The sentences of a language by their names; `{…}` stands for what is filled in."""
    source = files("dolmen.interfaces.http.web") / "words" / f"{language}.json"
    found: dict[str, str] = json.loads(source.read_text(encoding="utf-8"))
    return found


def translated(language: str, message: str) -> str | None:
    """A refusal, and what to do about it, in a language; None where it has no words for it, as English has for none:
    refusals are written in it."""
    known = words(language).get(_REFUSAL + message)
    if known is not None:
        return known
    for pattern, sentence in _patterns(language):
        found = pattern.fullmatch(message)
        if found:
            return sentence.format(**found.groupdict())
    return None


@cache
def _patterns(language: str) -> list[tuple[re.Pattern[str], str]]:
    """The refusals that have something filled in, those that say most first."""
    filled = [(name.removeprefix(_REFUSAL), text) for name, text in words(language).items() if "{" in name]
    filled.sort(key=lambda each: -len(each[0]))
    return [(re.compile(_pattern(name), re.DOTALL), text) for name, text in filled]


def _pattern(message: str) -> str:
    parts = re.split(r"\{(\w+)\}", message)
    return "".join(f"(?P<{part}>.+?)" if place % 2 else re.escape(part) for place, part in enumerate(parts))
