"""Days, weeks, months and years of a zone, as spans of microseconds since the epoch."""

from __future__ import annotations

import re
from calendar import isleap, monthrange
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple

from dolmen.domain.errors import DolmenError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class Span(NamedTuple):
    """From `start` to before `end`, in microseconds since the epoch; a moment has both the same."""

    start: int
    end: int


class Clock(NamedTuple):
    """The present moment in the caller's zone, and the spans around it. Offsets count from the present one."""

    now: int
    zone: tzinfo

    @property
    def today(self) -> date:
        """The calendar day that the caller's clock shows."""
        return (EPOCH + self.now * MICROSECOND).astimezone(self.zone).date()

    def day(self, offset: int) -> Span:
        """A day."""
        return days(self.today + timedelta(days=offset), 1, self.zone)

    def week(self, offset: int) -> Span:
        """A week from Monday (ISO 8601)."""
        return days(self.today - timedelta(days=self.today.weekday() - 7 * offset), 7, self.zone)

    def month(self, offset: int) -> Span:
        """A calendar month."""
        first = months_later(self.today.replace(day=1), offset)
        return month(first.year, first.month, self.zone)

    def year(self, offset: int) -> Span:
        """A calendar year."""
        return year(self.today.year + offset, self.zone)

    def hours(self, offset: int, first: int, count: int) -> Span:
        """Some hours of a day."""
        start = self.day(offset).start + first * 3_600_000_000
        return Span(start, start + count * 3_600_000_000)

    def since(self, first: date) -> Span:
        """From the start of a day until now."""
        return Span(days(first, 1, self.zone).start, self.now)


def us(value: datetime) -> int:
    """Microseconds since the epoch of an aware time."""
    return (value - EPOCH) // MICROSECOND


def moment(at: int) -> Span:
    """A span without length. Raises OverflowError before year 1 and after year 9999."""
    _ = EPOCH + at * MICROSECOND
    return Span(at, at)


def days(first: date, count: int, zone: tzinfo) -> Span:
    """Whole days, however long the zone's clock makes them; the last days of year 9999 end with the calendar."""
    start = us(_midnight(first, zone))
    if date.max - first < timedelta(days=count):
        return Span(start, us(datetime.max.replace(tzinfo=UTC)))
    return Span(start, us(_midnight(first + timedelta(days=count), zone)))


def month(year: int, month: int, zone: tzinfo) -> Span:
    """A calendar month."""
    return days(date(year, month, 1), _length(year, month), zone)


def year(year: int, zone: tzinfo) -> Span:
    """A calendar year."""
    return days(date(year, 1, 1), 366 if isleap(year) else 365, zone)


def months_later(day: date, count: int) -> date:
    """The same day of another month, or that month's last day."""
    year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
    return date(year, month + 1, min(day.day, _length(year, month + 1)))


def _length(year: int, month: int) -> int:
    return monthrange(year, month)[1]


def zone_of(name: str | None) -> tzinfo:
    """A zone from an offset (`+09:00`) or an IANA name (`Asia/Seoul`); UTC for none.

    Raises:
        DolmenError: `invalid-time` for an unknown zone.
    """
    text = (name or "").strip()
    if text.upper() in ("", "Z", "UTC", "GMT"):
        return UTC
    if offset := re.fullmatch(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?([0-5]\d))?", text, re.ASCII):
        delta = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
        if delta < timedelta(hours=24):
            return timezone(delta if offset[1] == "+" else -delta)
    from zoneinfo import ZoneInfo  # most processes never need it, and it takes milliseconds

    try:
        return ZoneInfo(text)
    except (KeyError, ValueError, OSError):
        raise DolmenError(
            "invalid-time", f"The zone {text[:80]!r} is unknown.", "Give an offset (+09:00) or a name (Asia/Seoul)."
        ) from None


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone)
