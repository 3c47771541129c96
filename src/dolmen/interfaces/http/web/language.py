"""The words of the pages, in the languages that they speak."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

LANGUAGES = ("en", "ko")


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
