"""Times that people name mean the same span everywhere, in the zone of the one who asks (B166, B167, C-155)."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolmen.domain.errors import DolmenError
from dolmen.domain.timeframe import format_utc, parse, span, temporal_intent, zone_of

SEOUL = "Asia/Seoul"


def at(text: str) -> int:
    """Microseconds of an ISO 8601 time; UTC without a zone."""
    moment = datetime.fromisoformat(text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1_000_000)


NOW = at("2026-09-27T06:30:00")  # a Sunday, 15:30 in Seoul

SPANS = [
    # words, first and last day in Seoul, the last one included
    ("today", "2026-09-27", "2026-09-27"),
    ("Yesterday", "2026-09-26", "2026-09-26"),
    ("the day before yesterday", "2026-09-25", "2026-09-25"),
    ("tomorrow", "2026-09-28", "2026-09-28"),
    ("this week", "2026-09-21", "2026-09-27"),
    ("last week", "2026-09-14", "2026-09-20"),
    ("last month", "2026-08-01", "2026-08-31"),
    ("last year", "2025-01-01", "2025-12-31"),
    ("3 days ago", "2026-09-24", "2026-09-24"),
    ("a week ago", "2026-09-20", "2026-09-20"),
    ("two weeks ago", "2026-09-13", "2026-09-13"),
    ("6 months ago", "2026-03-27", "2026-03-27"),
    ("a couple of days ago", "2026-09-25", "2026-09-25"),
    ("in 2 days", "2026-09-29", "2026-09-29"),
    ("since march", "2026-03-01", "2026-03-31"),
    ("in March 2025", "2025-03-01", "2025-03-31"),
    ("december", "2025-12-01", "2025-12-31"),
    ("last september", "2025-09-01", "2025-09-30"),
    ("march 3", "2026-03-03", "2026-03-03"),
    ("3rd of March 2025", "2025-03-03", "2025-03-03"),
    ("Sept. 5, 2026", "2026-09-05", "2026-09-05"),
    ("monday", "2026-09-21", "2026-09-21"),
    ("sunday", "2026-09-27", "2026-09-27"),
    ("last sunday", "2026-09-20", "2026-09-20"),
    ("until yesterday", "2026-09-26", "2026-09-26"),
    ("오늘", "2026-09-27", "2026-09-27"),
    ("어제", "2026-09-26", "2026-09-26"),
    ("그저께", "2026-09-25", "2026-09-25"),
    ("지난주", "2026-09-14", "2026-09-20"),
    ("지난 주부터", "2026-09-14", "2026-09-20"),
    ("지난달", "2026-08-01", "2026-08-31"),
    ("작년", "2025-01-01", "2025-12-31"),
    ("3일 전", "2026-09-24", "2026-09-24"),
    ("3일전부터", "2026-09-24", "2026-09-24"),
    ("이틀 전", "2026-09-25", "2026-09-25"),
    ("일주일 전", "2026-09-20", "2026-09-20"),
    ("한 달 전", "2026-08-27", "2026-08-27"),
    ("3월", "2026-03-01", "2026-03-31"),
    ("3월 5일", "2026-03-05", "2026-03-05"),
    ("작년 12월", "2025-12-01", "2025-12-31"),
    ("2026년 3월 5일", "2026-03-05", "2026-03-05"),
    ("지난 월요일", "2026-09-21", "2026-09-21"),
    ("지난주 화요일", "2026-09-15", "2026-09-15"),
    ("2026-09-27", "2026-09-27", "2026-09-27"),
    ("2026-09", "2026-09-01", "2026-09-30"),
    ("2026", "2026-01-01", "2026-12-31"),
    ("2026-W39", "2026-09-21", "2026-09-27"),
    ("20260927", "2026-09-27", "2026-09-27"),
    ("2026/9/7", "2026-09-07", "2026-09-07"),
    ("2026. 9. 7.", "2026-09-07", "2026-09-07"),
]


@pytest.mark.parametrize(("value", "first", "last"), SPANS)
def test_a_span_is_one_of_the_callers_calendar(value: str, first: str, last: str) -> None:
    day = 86_400_000_000
    assert span(value, NOW, SEOUL) == (at(f"{first}T00:00+09:00"), at(f"{last}T00:00+09:00") + day)


@pytest.mark.parametrize(
    ("value", "first"),
    [
        ("last 3 days", "2026-09-24"),
        ("past week", "2026-09-20"),
        ("3 weeks", "2026-09-06"),
        ("recently", "2026-09-20"),
        ("최근", "2026-09-20"),
        ("최근 3일", "2026-09-24"),
        ("지난 3일간", "2026-09-24"),
        ("최근 한 달", "2026-08-27"),
    ],
)
def test_a_span_up_to_now_begins_with_a_whole_day(value: str, first: str) -> None:
    assert span(value, NOW, SEOUL) == (at(f"{first}T00:00+09:00"), NOW)


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("now", "2026-09-27T06:30:00"),
        ("지금", "2026-09-27T06:30:00"),
        ("3 hours ago", "2026-09-27T03:30:00"),
        ("한 시간 전", "2026-09-27T05:30:00"),
        ("90 minutes ago", "2026-09-27T05:00:00"),
        ("yesterday at 9am", "2026-09-26T09:00+09:00"),
        ("12am", "2026-09-27T00:00+09:00"),
        ("14:30", "2026-09-27T14:30+09:00"),
        ("어제 오후 3시 30분", "2026-09-26T15:30+09:00"),
        ("오전 9시 반", "2026-09-27T09:30+09:00"),
        ("2026-09-27T06:00:00Z", "2026-09-27T06:00:00"),
        ("2026-09-27T06:00:00.5+09:00", "2026-09-27T06:00:00.5+09:00"),
        ("2026-09-27 06:00", "2026-09-27T06:00+09:00"),
        ("2026-09-27 06:00 UTC", "2026-09-27T06:00"),
        ("2026-09-27 06:00 KST", "2026-09-27T06:00+09:00"),
    ],
)
def test_a_moment_has_no_length(value: str, moment: str) -> None:
    assert span(value, NOW, SEOUL) == (at(moment), at(moment))


def test_yesterday_is_the_day_that_the_readers_clock_showed() -> None:
    """B166: a memory of 00:30 in Seoul belongs to that day there, and to the day before in UTC."""
    written = at("2026-09-27T00:30+09:00")
    assert not parse("yesterday", NOW, SEOUL) <= written < parse("yesterday", NOW, SEOUL, edge="end")
    assert parse("today", NOW, SEOUL) <= written < parse("today", NOW, SEOUL, edge="end")
    assert parse("yesterday", NOW) <= written < parse("yesterday", NOW, edge="end")


def test_a_date_means_the_callers_day() -> None:
    """B167: 02:00Z is the evening before in California."""
    written = at("2026-09-27T02:00")
    for zone, day in ((None, "2026-09-27"), ("America/Los_Angeles", "2026-09-26"), ("+09:00", "2026-09-27")):
        assert parse(day, NOW, zone) <= written < parse(day, NOW, zone, edge="end")


def test_until_includes_the_day_that_it_names() -> None:
    assert parse("until yesterday", NOW, SEOUL, edge="end") == parse("today", NOW, SEOUL)
    assert parse("2026-09-27T06:00Z", NOW, edge="end") == parse("2026-09-27T06:00Z", NOW)


def test_the_last_day_of_the_calendar_is_a_day() -> None:
    """`until 9999-12-31` is how people say for ever."""
    for value in ("9999-12-31", "9999-12", "9999"):
        assert format_utc(parse(value, NOW, edge="end")) == "9999-12-31T23:59:59.999999Z"


def test_a_day_has_as_many_hours_as_its_zone_gives_it() -> None:
    start, end = span("2026-03-29", NOW, "Europe/Berlin")
    assert end - start == 23 * 3_600_000_000


@pytest.mark.parametrize(
    "value",
    ["", "since", "foo", "marching", "2026-02-30", "2026-13", "march 32", "99:99", "13pm", "999999 days ago",
     "100000 years ago", "10000-01-01", "the last of us", "\x00", "\ud800", "0 of", "1 1 1", "3", "W39"],
)  # fmt: skip
def test_what_is_not_understood_is_refused_with_the_accepted_forms(value: str) -> None:
    with pytest.raises(DolmenError) as refusal:
        parse(value, NOW)
    assert refusal.value.code == "invalid-time"
    assert "2026-09-27" in refusal.value.fix
    assert "3일 전" in refusal.value.fix


@given(st.one_of(st.text(max_size=40), st.text(alphabet="0123456789-: TZ+wage days일주전last", max_size=20)))
def test_any_text_is_a_span_or_refused(value: str) -> None:
    try:
        start, end = span(value, NOW, SEOUL)
    except DolmenError:
        return
    assert start <= end


@given(st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)))  # noqa: DTZ001 - UTC is added
def test_a_formatted_time_is_read_back_as_it_was(moment: datetime) -> None:
    us = (moment.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // (datetime.resolution)
    assert parse(format_utc(us), NOW) == us


def test_times_are_shown_in_utc_with_a_fraction_only_where_there_is_one() -> None:
    assert format_utc(at("2026-09-27T06:00:00")) == "2026-09-27T06:00:00Z"
    assert format_utc(at("2026-09-27T06:00:00") + 1) == "2026-09-27T06:00:00.000001Z"
    assert format_utc(-1_000_000) == "1969-12-31T23:59:59Z"


@pytest.mark.parametrize(
    ("name", "hours"),
    [(None, 0), ("", 0), ("utc", 0), ("Z", 0), ("+09:00", 9), ("-0330", -3.5), ("UTC+9", 9), (SEOUL, 9)],
)
def test_zones_are_offsets_or_names(name: str | None, hours: float) -> None:
    offset = zone_of(name).utcoffset(datetime(2026, 9, 27))  # noqa: DTZ001 - asks the zone itself
    assert offset is not None
    assert offset.total_seconds() == hours * 3600


@pytest.mark.parametrize("name", ["Mars/Olympus", "+99:00", "../etc/passwd", "\x00", "KST-9x"])
def test_an_unknown_zone_is_refused(name: str) -> None:
    with pytest.raises(DolmenError, match="zone"):
        zone_of(name)


@pytest.mark.parametrize(
    "query",
    ["what did we do last time", "the latest decision", "most recent work", "what was done recently?", "Last",
     "yesterday's fix", "what happened this week", "지난번에 뭐 했지", "최근 작업", "지난 세션", "어제 고친 버그",
     "마지막으로 바꾼 것", "방금", "요즘", "이번 주 배포", "昨日の作業", "上次的决定"],
)  # fmt: skip
def test_questions_about_recent_work_are_known(query: str) -> None:
    """C-155"""
    assert temporal_intent(query)


@pytest.mark.parametrize(
    "query",
    ["last-write-wins", "how are passwords hashed", "blast radius", "lasting effects", "recentering the map",
     "점검표는 어디에 있나", "최대 근무 시간", "latest-tag policy", ""],
)  # fmt: skip
def test_other_questions_are_not_about_recent_work(query: str) -> None:
    """C-155"""
    assert not temporal_intent(query)
