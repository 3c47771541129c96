"""How much one connection may ask for."""

from __future__ import annotations

import pytest

from dolmen.interfaces.http import limits
from dolmen.interfaces.http.limits import Limits
from dolmen.interfaces.http.responses import Refusal


def ask(limits: Limits, connection: str, now: float) -> int:
    """0 when it was admitted, else the seconds to wait."""
    try:
        with limits.request(connection, now):
            return 0
    except Refusal as error:
        return int(error.headers["Retry-After"])


def test_a_connection_that_asks_too_often_is_told_when_to_come_back() -> None:
    limits = Limits(per_minute=6, at_once=0)
    assert [ask(limits, "a", 100.0) for _ in range(6)] == [0] * 6
    assert ask(limits, "a", 100.0) == 10
    assert ask(limits, "a", 104.0) == 6
    assert ask(limits, "a", 110.0) == 0
    assert ask(limits, "a", 110.0) == 10


def test_a_refusal_has_the_status_and_the_header_that_clients_know() -> None:
    limits = Limits(per_minute=1, at_once=0)
    ask(limits, "a", 0.0)
    with pytest.raises(Refusal) as caught, limits.request("a", 0.0):
        pass
    assert caught.value.status == 429
    assert caught.value.headers == {"Retry-After": "60"}
    assert caught.value.code == "rate-limited"


def test_an_idle_connection_saves_no_more_than_a_minute() -> None:
    limits = Limits(per_minute=2, at_once=0)
    ask(limits, "a", 0.0)
    assert [ask(limits, "a", 9_999.0) for _ in range(3)] == [0, 0, 30]


def test_connections_do_not_pay_for_each_other() -> None:
    limits = Limits(per_minute=1, at_once=0)
    assert ask(limits, "a", 0.0) == 0
    assert ask(limits, "a", 0.0) == 60
    assert ask(limits, "b", 0.0) == 0


def test_too_many_at_the_same_time_are_refused_until_one_has_ended() -> None:
    limits = Limits(per_minute=0, at_once=2)
    with limits.request("a", 0.0):
        with limits.request("a", 0.0):
            assert ask(limits, "a", 0.0) == 1
            assert ask(limits, "b", 0.0) == 0
        assert ask(limits, "a", 0.0) == 0


def test_a_request_that_failed_gives_its_place_back() -> None:
    limits = Limits(per_minute=0, at_once=1)
    with pytest.raises(ValueError), limits.request("a", 0.0):
        raise ValueError
    assert ask(limits, "a", 0.0) == 0


def test_no_limit_means_no_limit() -> None:
    limits = Limits(per_minute=0, at_once=0)
    assert {ask(limits, "a", 0.0) for _ in range(2000)} == {0}


def test_a_flood_of_connections_does_not_grow_the_table_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST", 50)
    table = Limits(per_minute=1, at_once=0)
    for number in range(200):
        ask(table, f"c{number}", 0.0)
    assert len(table._uses) == 50
