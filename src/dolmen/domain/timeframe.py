"""Moments and spans that people name, as microseconds since the epoch (UTC)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from dolmen.domain.errors import DolmenError

MICROSECONDS = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIX = (
    "Give an ISO 8601 date or time (2026-09-27, 2026-09-27T06:00:00Z) or words such as "
    "'yesterday', '3 days ago', 'last week', 'since march', '어제', '3일 전', '지난주'."
)
# As documented by the first contract (C-155), with more everyday words of both languages.
_TEMPORAL = re.compile(
    r"\b(?:last|latest|recent(?:ly)?|newest|previous(?:ly)?|yesterday|today|lately|just now|so far today|"
    r"this (?:week|morning|month))\b(?!-)"
    r"|최근|지난번|지난\s?(?:세션|주|달)|저번|마지막|어제|오늘|방금|아까|요즘|요새|최신|이번\s?(?:주|달)",
    re.IGNORECASE,
)


def temporal_intent(query: str) -> bool:
    """Whether a query asks about recent work (C-155): "last time", "latest", "지난번", "최근", and their like."""
    return _TEMPORAL.search(query) is not None


def format_utc(us: int) -> str:
    """`2026-09-27T06:00:00Z`; fractions only where there are any."""
    moment = _EPOCH + timedelta(microseconds=us)
    return moment.isoformat().replace("+00:00", "Z")


def zone_of(name: str | None) -> tzinfo:
    """A zone from an offset (`+09:00`) or a name (`Asia/Seoul`); UTC for none.

    Raises:
        DolmenError: `invalid-time` for an unknown zone.
    """
    if name is None or name.strip() in ("", "Z", "UTC", "utc"):
        return UTC
    offset = re.fullmatch(r"(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})?", name.strip())
    if offset:
        sign, hours, minutes = offset.groups()
        delta = timedelta(hours=int(hours), minutes=int(minutes or 0))
        if delta < timedelta(hours=24):
            return timezone(delta if sign == "+" else -delta)
    try:
        return ZoneInfo(name.strip())
    except (KeyError, ValueError, OSError):
        raise DolmenError(
            "invalid-time", f"The zone {name!r} is unknown.", "Give an offset (+09:00) or an IANA name (Asia/Seoul)."
        ) from None


def parse(value: str, now: int, zone: str | None = None) -> int:
    """The moment that a `since`, `until` or `as_of` value names, in microseconds since the epoch."""
    tz = zone_of(zone)
    text = value.strip()
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        local = (_EPOCH + timedelta(microseconds=now)).astimezone(tz)
        moment = _words(text.lower(), local)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=tz)
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _words(text: str, local: datetime) -> datetime:
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    days = {"now": None, "today": 0, "yesterday": 1, "어제": 1, "오늘": 0, "그제": 2}
    if text in days:
        back = days[text]
        return local if back is None else midnight - timedelta(days=back)
    found = re.fullmatch(r"(\d+)\s*(days?|weeks?|hours?|일|주|시간)\s*(?:ago|전)", text)
    if found:
        unit = {"d": "days", "일": "days", "w": "weeks", "주": "weeks", "h": "hours", "시": "hours"}[found[2][0]]
        return local - timedelta(**{unit: int(found[1])})
    raise DolmenError("invalid-time", "The time is not understood.", _FIX)
