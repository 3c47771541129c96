"""Written dates and times: ISO 8601, its everyday variants, and Korean dates with a year."""

from __future__ import annotations

import re
from datetime import date, datetime

from dolmen.domain.timeframe.clock import Clock, Span, days, moment, month, us, year

# Patterns stay strings: `re` compiles them at first use, and most processes never parse a time.
_DAY = r"(\d{4})(?:-|/|\. ?|년 ?)(\d{1,2})(?:-|/|\. ?|월 ?)(\d{1,2})(?:\.|일)?"
_MONTH = r"(\d{4})(?:-|/|년 ?)(\d{1,2})월?"
_YEAR = r"(\d{4})년?"
_WEEK = r"(\d{4})-?w(\d{2})"
_ZONES = {"utc": "+00:00", "gmt": "+00:00", "kst": "+09:00", "jst": "+09:00"}


def written(text: str, clock: Clock) -> Span | None:
    """The span of a lowercase written date or time, None for another text.

    Raises:
        ValueError, OverflowError: for a date that no calendar has.
    """
    if found := re.fullmatch(_DAY, text, re.ASCII):
        return days(date(int(found[1]), int(found[2]), int(found[3])), 1, clock.zone)
    if found := re.fullmatch(_MONTH, text, re.ASCII):
        return month(int(found[1]), int(found[2]), clock.zone)
    if found := re.fullmatch(_YEAR, text, re.ASCII):
        return year(int(found[1]), clock.zone)
    if found := re.fullmatch(_WEEK, text, re.ASCII):
        return days(date.fromisocalendar(int(found[1]), int(found[2]), 1), 7, clock.zone)
    if not re.match(r"\d{4}-?(?:\d|w)", text, re.ASCII):
        return None
    return _iso(text, clock)


def _iso(text: str, clock: Clock) -> Span | None:
    head, _, name = text.rpartition(" ")
    try:
        value = datetime.fromisoformat((head + _ZONES[name] if name in _ZONES else text).upper())
    except ValueError:
        return None
    if ":" not in text and not re.search("[t ]", text):
        return days(value.date(), 1, clock.zone)
    return moment(us(value if value.tzinfo else value.replace(tzinfo=clock.zone)))
