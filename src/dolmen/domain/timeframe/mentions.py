"""Times inside a sentence: `what broke last week`, `3월에 바꾼 설정`, `since the release on 2026-09-01`.

Stricter than `words`: in a sentence `may` is a verb, `3 weeks` a duration and `2025` a number, so those count only with
a word beside them that makes them a time (`in may`, `3 weeks ago`, `since 2025`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from dolmen.domain.timeframe.clock import Clock, Span, zone_of
from dolmen.domain.timeframe.dates import written
from dolmen.domain.timeframe.words import worded


class Range(NamedTuple):
    """From `start` to before `end`, microseconds since the epoch; None where it is open."""

    start: int | None
    end: int | None
    words: str
    """As the sentence says it."""

    def holds(self, at: int) -> bool:
        return (self.start is None or self.start <= at) and (self.end is None or at < self.end)


_LONGEST = 400
"""Characters of a sentence that are looked through."""
_MOST = 4

_NUMBER = (
    r"(?:\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:a )?(?:few|couple)(?: of)?)"
)
_UNIT = r"(?:minute|hour|day|week|month|year)s?"
_MONTHS = r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"  # noqa: E501 - one list
_UNMISTAKABLE = r"january|february|july|september|october|november|december"
_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_FROM, _UNTIL = r"since|from|starting(?: in| on)?", r"until|till|up to|through"
_BEFORE_IT = rf"(?P<before>(?:{_FROM}|{_UNTIL}|after|before|by|in|on|during|between|and|to|of|at)(?: the)? )?"
_ENGLISH = "|".join(
    (
        r"(?:the )?(?:day before yesterday|(?:week|month|year) before last)|yesterday|today|last night",
        r"this (?:morning|afternoon)|(?:this|last|previous|past) (?:week|month|year)",
        rf"{_NUMBER} {_UNIT} (?:ago|earlier|back)|(?:last|past|previous) {_NUMBER} {_UNIT}",
        rf"(?:last|this) {_DAYS}|last (?:{_MONTHS})",
        rf"(?:{_MONTHS})\.? \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?(?!\d)",
        rf"\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{_MONTHS})\.?(?:,? \d{{4}})?",
        rf"(?:{_MONTHS})\.?,? \d{{4}}|{_UNMISTAKABLE}",
        r"\d{4}-\d{2}-\d{2}|\d{4}-\d{2}|\d{4}/\d{1,2}/\d{1,2}|\d{4}-?w\d{2}",
    )
)
_BARE = rf"(?:{_DAYS}|{_MONTHS}|(?:19|20)\d\d)"
"""Times only behind a word such as `in` or `since`."""
_KOREAN_NUMBER = r"(?:\d{1,4}|한|두|세|네|다섯|여섯|일곱|여덟|아홉|열|일|이|삼|사|오|육|칠|팔|구)"
_KOREAN_UNIT = r"(?:분|시간|일|주일|주|달|개월|년|해)"
_KOREAN_DAYS = r"(?:하루|이틀|사흘|나흘|닷새|엿새|이레|여드레|아흐레|열흘|보름)"
_COUNTED = rf"(?:{_KOREAN_NUMBER} ?{_KOREAN_UNIT}|{_KOREAN_DAYS})"
_KOREAN = "|".join(
    (
        rf"{_COUNTED} ?전(?![가-힣]*체)|(?:최근|지난) ?{_COUNTED}(?:간| 동안)?",
        r"(?:지난 ?주|저번 ?주|이번 ?주|지난|저번) ?[월화수목금토일]요일",
        r"(?:(?:\d{4}년|재작년|작년|지난해|올해) ?)?\d{1,2}월(?: ?\d{1,2}일)?|\d{4}년",
        r"그저께|엊그제|그제|어젯밤|간밤|어제|오늘 (?:아침|오전|오후)|오늘(?!날)",
        r"(?:이번|지지난|지난|저번) ?[주달]|금주|이달|올해|금년|재작년|작년|지난 ?해",
    )
)
_AFTER_IT = r"(?P<after> ?(?:부터|이후|이래|까지|이전))?"


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    """Made at first use: most processes never read a sentence."""
    english = rf"(?<![\w./-]){_BEFORE_IT}(?P<core>{_ENGLISH}|{_BARE})(?![\w./-]*\w)"
    korean = rf"(?<![\w./-])(?P<kern>{_KOREAN}){_AFTER_IT}"
    return re.compile(f"{english}|{korean}")


_HINT = re.compile(r"\d|day|week|month|year|night|morning|noon|[년월일주달해제늘밤] ?|전")
"""Something that every time has, found faster than the times themselves."""


def mentioned(sentence: str, now: int, zone: str | None = None) -> tuple[Range, ...]:
    """The ranges of time that a sentence names, at most four; empty for most sentences.

    Args:
        sentence: any text, such as a question.
        now: the present moment in microseconds since the epoch.
        zone: where days begin; UTC by default.
    """
    text = " ".join(unicodedata.normalize("NFKC", sentence[:_LONGEST]).lower().split())
    months = re.search(_MONTHS, text)
    if not (months or _HINT.search(text)):
        return ()
    found = list(_spans(text, Clock(now, zone_of(zone))))
    return tuple(_joined(found))[:_MOST]


def inside(text: str, clock: Clock) -> Span | None:
    """The span of a lowercase text that names what was then: `the release on 2026-09-01`, `9월 1일 릴리스`.

    None where the words around the time may change it (`two weeks before …`), or there are several.
    """
    core = rf"(?P<time>{_ENGLISH}|{_BARE}|{_KOREAN})"
    early = core.replace("time", "early")
    word = rf"(?:(?!{_CHANGING})[^\d])"
    named = rf"{word}{{1,60}} (?:on|at|of|in|from) {core}|{early} {word}{{1,40}}"
    if found := re.fullmatch(named, text):
        return _span(found["time"] or found["early"], clock)
    return None


_CHANGING = (
    r"(?:\b(?:before|after|ago|later|between|until|than|within|days?|weeks?|months?|years?|hours?)\b|전에|후에|뒤)"
)


class _Said(NamedTuple):
    span: Span
    direction: str
    """`since`, `until`, `after`, `before`, `from` (a range's begin, or what is of then), `and` (its end), or empty."""
    at: tuple[int, int]
    words: str


def _spans(text: str, clock: Clock) -> Iterator[_Said]:
    for found in _pattern().finditer(text):
        core = found["core"] or found["kern"]
        if not found["before"] and re.fullmatch(_BARE, core) and not re.fullmatch(_UNMISTAKABLE, core):
            continue
        span = _span(core, clock)
        if span is not None and span.start < span.end:
            word = (found["before"] or found["after"] or "").removesuffix("the ").strip()
            if word in ("on", "in", "of", "at"):
                around = re.search(rf"\b({_FROM}|{_UNTIL}|after|before) [^\d.,;?!]{{1,40}} \Z", text[: found.start()])
                word = around[1] if around else word
            yield _Said(span, _direction(word), found.span(), found.group().strip())


def _span(core: str, clock: Clock) -> Span | None:
    said = re.sub(r"\Athe |(?: 동안|간)\Z", "", core)
    try:
        return written(said, clock) or worded(said, clock)
    except (ValueError, OverflowError):
        return None


def _direction(word: str) -> str:
    if word == "from":
        return word
    if re.fullmatch(_FROM, word) or word in ("부터", "이후", "이래", "between"):
        return "since"
    if re.fullmatch(_UNTIL, word) or word in ("by", "까지"):
        return "until"
    if word in ("after", "before"):
        return word
    return {"이전": "before", "and": "and", "to": "and"}.get(word, "")


def _joined(found: list[_Said]) -> Iterator[Range]:
    """Each mention as a range; `from … to …` as one."""
    at = 0
    while at < len(found):
        one, after = found[at], found[at + 1] if at + 1 < len(found) else None
        follows = after is not None and one.direction in ("since", "from") and after.direction in ("and", "until")
        if after is not None and follows and after.at[0] - one.at[1] <= 2 and one.span.start < after.span.end:
            yield Range(one.span.start, after.span.end, f"{one.words} {after.words}")
            at += 2
            continue
        yield _range(one)
        at += 1


def _range(said: _Said) -> Range:
    match said.direction:
        case "since":
            return Range(said.span.start, None, said.words)
        case "after":
            return Range(said.span.end, None, said.words)
        case "until":
            return Range(None, said.span.end, said.words)
        case "before":
            return Range(None, said.span.start, said.words)
        case _:
            return Range(said.span.start, said.span.end, said.words)
