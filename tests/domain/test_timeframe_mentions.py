"""Times inside sentences, in English and Korean, with the clock fixed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolmen.domain.errors import DolmenError
from dolmen.domain.timeframe import mentioned, parse, span
from dolmen.domain.values import HOUR
from tests.domain.test_timeframe import NOW, SEOUL, at

RANGES = [
    # a sentence, first day in Seoul and the day after the last one; None is open
    ("what broke last week", "2026-09-14", "2026-09-21"),
    ("yesterday's fix of the parser", "2026-09-26", "2026-09-27"),
    ("what did we change in March?", "2026-03-01", "2026-04-01"),
    ("may we deploy on friday", "2026-09-25", "2026-09-26"),
    ("the decision of 3 weeks ago", "2026-09-06", "2026-09-07"),
    ("everything since 2025", "2025-01-01", None),
    ("what changed since the release on 2026-09-01", "2026-09-01", None),
    ("incidents after march", "2026-04-01", None),
    ("what we knew before last week", None, "2026-09-14"),
    ("work until 2026-09-10", None, "2026-09-11"),
    ("what happened between march 3 and march 9?", "2026-03-03", "2026-03-10"),
    ("from 2026-09-01 to 2026-09-10", "2026-09-01", "2026-09-11"),
    ("the notes from yesterday", "2026-09-26", "2026-09-27"),
    ("january decisions", "2026-01-01", "2026-02-01"),
    ("the meeting of Sept. 5, 2026", "2026-09-05", "2026-09-06"),
    ("지난주 배포에서 무엇이 바뀌었나", "2026-09-14", "2026-09-21"),
    ("3일 전 고친 버그", "2026-09-24", "2026-09-25"),
    ("3월에 바꾼 설정", "2026-03-01", "2026-04-01"),
    ("작년 12월 회고", "2025-12-01", "2026-01-01"),
    ("2026년 3월 5일 회의", "2026-03-05", "2026-03-06"),
    ("지난 월요일에 정한 것", "2026-09-21", "2026-09-22"),
    ("9월 1일부터 9월 10일까지 작업", "2026-09-01", "2026-09-11"),
    ("9월 1일 이후 바뀐 것", "2026-09-01", None),
    ("어제 고친 것", "2026-09-26", "2026-09-27"),
]


@pytest.mark.parametrize(("sentence", "first", "after"), RANGES)
def test_a_sentence_names_a_range(sentence: str, first: str | None, after: str | None) -> None:
    [found] = mentioned(sentence, NOW, SEOUL)
    day = [None if each is None else at(f"{each}T00:00+09:00") for each in (first, after)]
    assert [found.start, found.end] == day


@pytest.mark.parametrize("sentence", ["the last 3 days", "최근 3일간 작업", "지난 3일 동안 한 일"])
def test_a_range_up_to_now_ends_now(sentence: str) -> None:
    [found] = mentioned(sentence, NOW, SEOUL)
    assert (found.start, found.end) == (at("2026-09-24T00:00+09:00"), NOW)


@pytest.mark.parametrize(
    "sentence",
    ["", "how are passwords hashed", "may we deploy", "retention is 3 weeks", "port 2025", "version 2026.9.1",
     "INC-2026-09-01 outage", "http://x/2026-09-01/a", "the march of progress", "mar 32", "year 9999 bug", "20260101a",
     "sunday school", "오늘날의 문제", "전체 로그", "최대 근무 시간", "999999 days ago", "\x00", "\ud800"],
)  # fmt: skip
def test_what_only_looks_like_a_time_is_none(sentence: str) -> None:
    assert mentioned(sentence, NOW, SEOUL) == ()


def test_two_times_are_two_ranges() -> None:
    assert [each.words for each in mentioned("compare yesterday with last month", NOW)] == ["yesterday", "last month"]


def test_a_day_in_a_sentence_has_the_hours_of_its_zone() -> None:
    """The clocks go back on 25 October 2026 in Berlin: that yesterday has 25 hours."""
    for zone, hours in (("Europe/Berlin", 25), ("Asia/Seoul", 24)):
        [found] = mentioned("yesterday's deploy", at("2026-10-26T09:00"), zone)
        assert found.start is not None
        assert found.end is not None
        assert found.end - found.start == hours * HOUR


@given(st.one_of(st.text(max_size=60), st.text("0123456789- sincebtwagodyk일주전월지난부터까", max_size=60)))
def test_any_sentence_is_read(sentence: str) -> None:
    for found in mentioned(sentence, NOW, SEOUL):
        assert found.start is None or found.end is None or found.start < found.end


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("since the release on 2026-09-01", "2026-09-01"),
        ("the sprint review on monday", "2026-09-21"),
        ("9월 1일 릴리스 이후", "2026-09-01"),
        ("3일 전 회의부터", "2026-09-24"),
    ],
)
def test_since_may_name_what_was_on_that_day(value: str, day: str) -> None:
    assert parse(value, NOW, SEOUL) == at(f"{day}T00:00+09:00")


@pytest.mark.parametrize(
    "value", ["two weeks before 2026-09-01", "the day after the release on 2026-09-01", "version 3 on 2026-09-01"]
)
def test_a_time_that_other_words_move_is_refused_and_not_guessed(value: str) -> None:
    with pytest.raises(DolmenError) as refusal:
        span(value, NOW, SEOUL)
    assert refusal.value.code == "invalid-time"
