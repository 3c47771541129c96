"""Times in words, English and Korean: `yesterday`, `3 days ago`, `last week`, `march 3`, `어제`, `3일 전`, `지난주`."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from dolmen.domain.timeframe.clock import EPOCH, MICROSECOND, Clock, Span, days, moment, month, months_later, us
from dolmen.domain.timeframe.dates import written

_FIXED: dict[str, Callable[[Clock], Span]] = {
    word: make
    for words, make in (
        ("now|right now|지금|현재", lambda c: moment(c.now)),
        ("today|오늘", lambda c: c.day(0)),
        ("yesterday|어제", lambda c: c.day(-1)),
        ("tomorrow|내일", lambda c: c.day(1)),
        ("day before yesterday|그제|그저께|엊그제", lambda c: c.day(-2)),
        ("day after tomorrow|모레", lambda c: c.day(2)),
        ("this morning|오늘 아침|오늘 오전", lambda c: c.hours(0, 0, 12)),
        ("this afternoon|오늘 오후", lambda c: c.hours(0, 12, 12)),
        ("last night|어젯밤|어제 밤|간밤", lambda c: c.hours(-1, 18, 12)),
        ("this week|이번 주|이번주|금주", lambda c: c.week(0)),
        ("last week|previous week|지난주|지난 주|저번 주|저번주|전주", lambda c: c.week(-1)),
        ("week before last|지지난주|지지난 주|저저번 주", lambda c: c.week(-2)),
        ("next week|다음 주|다음주", lambda c: c.week(1)),
        ("this month|이번 달|이번달|이달|금월", lambda c: c.month(0)),
        ("last month|previous month|지난달|지난 달|저번 달|저번달|전월", lambda c: c.month(-1)),
        ("month before last|지지난달|지지난 달", lambda c: c.month(-2)),
        ("next month|다음 달|다음달", lambda c: c.month(1)),
        ("this year|올해|금년|이번 해", lambda c: c.year(0)),
        ("last year|previous year|작년|지난해|지난 해", lambda c: c.year(-1)),
        ("year before last|재작년", lambda c: c.year(-2)),
        ("next year|내년|다음 해", lambda c: c.year(1)),
        ("recent|recently|lately|최근|요즘|요새|근래", lambda c: c.since(c.today - timedelta(days=7))),
    )
    for word in words.split("|")
}


def _numbered(table: str, first: int = 0) -> dict[str, int]:
    return {word: number for number, words in enumerate(table.split("|"), first) for word in words.split()}


_NUMBERS = _numbered(
    "one a an 한 하나 일 | two couple 두 이 | three few 세 석 삼 | four 네 넉 사 | five 다섯 오 | six 여섯 육 | "
    "seven 일곱 칠 | eight 여덟 팔 | nine 아홉 구 | ten 열 십 | eleven 열한 | twelve 열두",
    first=1,
)
_DAY_COUNTS = _numbered("하루|이틀|사흘|나흘|닷새|엿새|이레|여드레|아흐레|열흘", first=1) | {"보름": 15}
_MINUTE, _HOUR, _DAY, _WEEK, _MONTH, _YEAR = range(6)
_UNITS = _numbered(
    "minute minutes min mins 분 | hour hours h hr hrs 시간 | day days d 일 | week weeks w wk wks 주 주일 | "
    "month months mo 달 개월 | year years y yr yrs 년 해"
)
_MICROSECONDS = {_MINUTE: 60_000_000, _HOUR: 3_600_000_000}
_MONTHS = _numbered(
    "january jan | february feb | march mar | april apr | may | june jun | july jul | august aug | "
    "september sep sept | october oct | november nov | december dec",
    first=1,
)
_WEEKDAYS = _numbered(
    "monday mon 월요일 | tuesday tue tues 화요일 | wednesday wed 수요일 | thursday thu thur thurs 목요일 | "
    "friday fri 금요일 | saturday sat 토요일 | sunday sun 일요일"
)
_KOREAN_YEARS = {"재작년": -2, "작년": -1, "지난해": -1, "올해": 0}


def _one_of(words: dict[str, int], name: str) -> str:
    return f"(?P<{name}>{'|'.join(sorted(words, key=len, reverse=True))})"


# Patterns stay strings: `re` compiles them at first use, and most processes never parse a time.
_COUNT = (
    rf"(?:(?:a )?(?P<number>\d{{1,6}}|{'|'.join(_NUMBERS)})(?: of)? ?{_one_of(_UNITS, 'unit')}|"
    rf"{_one_of(_DAY_COUNTS, 'days')})"
)
_BACK = rf"{_COUNT} ?(?:ago|before|earlier|back|전|이전)"
_AHEAD = (rf"in {_COUNT}", rf"{_COUNT} ?(?:from now|later|ahead|후|뒤)")
_LATELY = rf"(?:(?:last|past|previous|최근|지난) ?)?{_COUNT}"
_PAST_ONE = rf"past (?P<number>){_one_of(_UNITS, 'unit')}(?P<days>)"
_ORDINAL = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_IN_YEAR = r"(?:,? (?P<year>\d{4}))?"
_ENGLISH_DATES = (
    rf"(?:in )?(?P<last>last )?{_one_of(_MONTHS, 'month')}\.?(?: {_ORDINAL})?{_IN_YEAR}",
    rf"(?P<last>last )?{_ORDINAL} (?:of )?{_one_of(_MONTHS, 'month')}\.?{_IN_YEAR}",
)
_KOREAN_DATE = r"(?:(?P<year>재작년|작년|지난해|올해) ?)?(?P<month>\d{1,2})월(?: ?(?P<day>\d{1,2})일)?"
_TIMES = (
    r"(?P<head>.*?)(?:^|,? )(?:at )?(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))(?: ?(?P<half>am|pm))?",
    r"(?P<head>.*?)(?:^|,? )(?:at )?(?P<hour>\d{1,2})(?P<minute>) ?(?P<half>am|pm)",
    r"(?P<head>.*?)(?:^| )(?:(?P<half>오전|오후) ?)?(?P<hour>\d{1,2})시(?: ?(?P<minute>\d{1,2}분|반))?",
)


def worded(text: str, clock: Clock) -> Span | None:
    """The span of a lowercase text in words, None for another text.

    Raises:
        ValueError, OverflowError: for a date that no calendar has.
    """
    if text in _FIXED:
        return _FIXED[text](clock)
    attempts = (_counted, _weekday, _english_date, _korean_date, _time_of_day)
    return next((found for attempt in attempts if (found := attempt(text, clock))), None)


def _counted(text: str, clock: Clock) -> Span | None:
    """`3 days ago` is that day, `3 hours ago` that moment, `last 3 days` from the start of the first one to now."""
    if found := re.fullmatch(_BACK, text):
        return _shifted(clock, found, -1)
    for pattern in _AHEAD:
        if found := re.fullmatch(pattern, text):
            return _shifted(clock, found, 1)
    if found := re.fullmatch(_LATELY, text) or re.fullmatch(_PAST_ONE, text):
        return Span(_shifted(clock, found, -1).start, clock.now)
    return None


def _shifted(clock: Clock, found: re.Match[str], sign: int) -> Span:
    if found["days"]:
        count, unit = _DAY_COUNTS[found["days"]], _DAY
    else:
        said = found["number"] or "1"
        count, unit = int(said) if said.isdigit() else _NUMBERS[said], _UNITS[found["unit"]]
    count *= sign
    if unit in _MICROSECONDS:
        return moment(clock.now + count * _MICROSECONDS[unit])
    if unit in (_DAY, _WEEK):
        return days(clock.today + timedelta(days=count * (7 if unit == _WEEK else 1)), 1, clock.zone)
    return days(months_later(clock.today, count * (12 if unit == _YEAR else 1)), 1, clock.zone)


def _weekday(text: str, clock: Clock) -> Span | None:
    """The latest such day up to today; before today with `last`; of the week before with `지난주`."""
    which, _, name = text.rpartition(" ")
    if name not in _WEEKDAYS:
        return None
    back = (clock.today.weekday() - _WEEKDAYS[name]) % 7
    match which:
        case "" | "this" | "이번 주" | "이번주":
            return clock.day(-back)
        case "last" | "지난" | "저번":
            return clock.day(-(back or 7))
        case "지난주" | "지난 주" | "저번 주" | "저번주":
            return clock.day(_WEEKDAYS[name] - clock.today.weekday() - 7)
        case _:
            return None


def _english_date(text: str, clock: Clock) -> Span | None:
    for pattern in _ENGLISH_DATES:
        if found := re.fullmatch(pattern, text):
            year = int(found["year"]) if found["year"] else None
            return _dated(clock, year, _MONTHS[found["month"]], found["day"], complete=bool(found["last"]))
    return None


def _korean_date(text: str, clock: Clock) -> Span | None:
    if found := re.fullmatch(_KOREAN_DATE, text):
        year = clock.today.year + _KOREAN_YEARS[found["year"]] if found["year"] else None
        return _dated(clock, year, int(found["month"]), found["day"], complete=False)
    return None


def _dated(clock: Clock, year: int | None, number: int, day: str | None, *, complete: bool) -> Span:
    """A month or a day of it; without a year the latest that has begun, or that is over (`complete`)."""

    def of(year: int) -> Span:
        return days(date(year, number, int(day)), 1, clock.zone) if day else month(year, number, clock.zone)

    if year is not None:
        return of(year)
    this = of(clock.today.year)
    passed = this.end <= clock.now if complete else this.start <= clock.now
    return this if passed else of(clock.today.year - 1)


def _time_of_day(text: str, clock: Clock) -> Span | None:
    """`yesterday at 9am`, `어제 오후 3시 30분`, `14:30` (today)."""
    found = next((match for pattern in _TIMES if (match := re.fullmatch(pattern, text))), None)
    if found is None:
        return None
    head = found["head"] or "today"
    day = written(head, clock) or worded(head, clock)
    hour, said = int(found["hour"]), found["minute"] or "0"
    minute = 30 if said == "반" else int(said.removesuffix("분"))
    if half := found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half in ("pm", "오후") else 0)
    if day is None:
        return None
    return moment(us((EPOCH + day.start * MICROSECOND).astimezone(clock.zone).replace(hour=hour, minute=minute)))
