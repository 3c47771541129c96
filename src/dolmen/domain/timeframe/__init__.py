"""Moments and spans that people name, in English and Korean, as microseconds since the epoch (UTC).

A day, week, month or year is one of the caller's zone; a moment is the same everywhere. So `yesterday` means the same
span in a search and in a delete (B166), and a memory written at 02:00Z has the date that its reader's clock showed
(B167).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

from dolmen.domain.errors import DolmenError
from dolmen.domain.timeframe.clock import EPOCH, MICROSECOND, Clock, Span, zone_of
from dolmen.domain.timeframe.dates import written
from dolmen.domain.timeframe.mentions import Range, inside, mentioned
from dolmen.domain.timeframe.words import worded

__all__ = [
    "ACCEPTED",
    "Range",
    "Span",
    "format_utc",
    "local",
    "mentioned",
    "parse",
    "span",
    "temporal_intent",
    "without_recent",
    "zone_of",
]

ACCEPTED = (
    "Give an ISO 8601 date or time (2026-09-27, 2026-09, 2026-09-27T06:00:00Z), or words such as 'today', "
    "'yesterday', '3 days ago', 'last week', 'last 3 days', 'since march', '어제', '3일 전', '지난주', '최근 3일'."
)

# The words that the first contract lists (C-155) and everyday ones beside them. A hyphenated compound such as
# "last-write-wins" names a thing.
_RECENT_WORK = (
    r"\b(?:last|latest|recent(?:ly)?|newest|previous(?:ly)?|yesterday|today|lately|just now|"
    r"this (?:week|month|morning|afternoon))\b(?!-)"
    r"|최근|지난\s?(?:번|세션|주|달)|저번|마지막|어제|그제|그저께|오늘|방금|아까|요즘|요새|최신|이번\s?(?:주|달)|직전"
    r"|最近|最新|昨日|今日|前回|先週|昨天|今天|上次|上周|刚才"
)
# `since`, `until` and their like belong to the sentence around a value.
_BEFORE = r"(?:(?:since|from|after|starting|until|till|before|by|on|as of|the) )+"
_AFTER = r" ?(?:부터|이후로?|이래로?|까지|동안|내내|쯤|경|(?<=[일주달월년])간|(?<=[일주달월년제])에)\Z"
_LONGEST = 100


def parse(value: str, now: int, zone: str | None = None, *, edge: Literal["start", "end"] = "start") -> int:
    """The moment of a `since`, `until` or `as_of` value, in microseconds since the epoch.

    Args:
        value: ISO 8601 with or without a zone, or words (`ACCEPTED`).
        now: the present moment, which relative words count from; microseconds since the epoch.
        zone: offset or name of the zone of values that have none; UTC by default.
        edge: which end of a span is meant: `start` for since, `end` (exclusive) for until and as-of, so that
            `until yesterday` includes yesterday.

    Raises:
        DolmenError: `invalid-time`, naming the accepted forms.
    """
    found = span(value, now, zone)
    return found.start if edge == "start" else found.end


def span(value: str, now: int, zone: str | None = None) -> Span:
    """The span that a value names; arguments and errors as for `parse`."""
    clock = Clock(now, zone_of(zone))
    text = _plain(value)
    try:
        found = written(text, clock) or worded(text, clock) or inside(text, clock)
    except (ValueError, OverflowError):
        found = None
    if found is None:
        raise DolmenError("invalid-time", f"The time {value[:_LONGEST]!r} is not understood.", ACCEPTED)
    return found


def temporal_intent(query: str) -> bool:
    """Whether a query asks about recent work (C-155): "last time", "latest", "지난번", "최근" and their like."""
    return re.search(_RECENT_WORK, unicodedata.normalize("NFC", query), re.IGNORECASE) is not None


def without_recent(query: str) -> str:
    """The query without the words that `temporal_intent` looks for."""
    return re.sub(_RECENT_WORK, " ", unicodedata.normalize("NFC", query), flags=re.IGNORECASE)


def format_utc(us: int) -> str:
    """`2026-09-27T06:00:00Z`; with six decimals only where the moment has a fraction of a second."""
    return (EPOCH + us * MICROSECOND).isoformat().replace("+00:00", "Z")


def local(us: int, zone: str | None) -> str:
    """`2026-09-27 06:00` as the clocks of a zone show it.

    Raises:
        DolmenError: `invalid-time` for an unknown zone.
    """
    return (EPOCH + us * MICROSECOND).astimezone(zone_of(zone)).strftime("%Y-%m-%d %H:%M")


def _plain(value: str) -> str:
    text = " ".join(unicodedata.normalize("NFKC", value[:_LONGEST]).lower().split())
    text = re.sub(rf"\A{_BEFORE}", "", text, count=1)
    return re.sub(_AFTER, "", text).strip()
