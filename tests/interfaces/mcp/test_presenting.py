"""How values are shown."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolmen.domain.values import DAY, HOUR, MINUTE, SECOND
from dolmen.interfaces.mcp.presenting import age, compact, encode, exact, moment, plain

NOON = 1_790_424_000 * SECOND + 123_456


def test_times_are_iso_8601_in_utc() -> None:
    assert moment(NOON) == "2026-09-26T12:00:00Z"
    assert exact(NOON) == "2026-09-26T12:00:00.123456Z"
    assert moment(None) is None


@pytest.mark.parametrize(
    ("ago", "said"),
    [
        (0, "now"),
        (-HOUR, "now"),
        (59 * SECOND, "now"),
        (MINUTE, "1m"),
        (59 * MINUTE, "59m"),
        (23 * HOUR, "23h"),
        (DAY, "1d"),
        (364 * DAY, "364d"),
        (800 * DAY, "2y"),
    ],
)
def test_an_age_is_said_in_its_largest_whole_unit(ago: int, said: str) -> None:
    assert age(NOON - ago, NOON) == said


def test_what_says_nothing_is_left_out_but_zero_is_something() -> None:
    shown = compact({"a": "", "b": None, "c": [], "d": {}, "e": False, "f": 0, "g": 0.0, "h": True, "i": "x"})
    assert shown == {"f": 0, "g": 0.0, "h": True, "i": "x"}
    assert compact({"a": [], "b": ""}, "a") == {"a": []}


def test_nested_numbers_have_three_decimals() -> None:
    assert plain({"a": (0.123456, {"b": 1.0}), "c": "0.123456"}) == {"a": [0.123, {"b": 1.0}], "c": "0.123456"}


@given(st.text())
def test_no_text_can_close_the_quotes_around_it(text: str) -> None:
    """B186."""
    assert json.loads(encode({"text": text, "next": 1})) == {"text": text, "next": 1}
