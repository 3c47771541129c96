"""How much one connection may ask for (C-338, C-339, C-342)."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

import pytest

from dolmen.domain.values import Actor, Bounds
from dolmen.interfaces.http import limits, quotas
from dolmen.interfaces.http.limits import Limits
from dolmen.interfaces.http.options import HttpOptions
from dolmen.interfaces.http.quotas import standing
from dolmen.interfaces.http.responses import Refusal
from dolmen.interfaces.mcp.registry import face
from dolmen.services import accounts
from dolmen.services.bounds import Used, limit_key
from dolmen.services.policy import set_policy
from dolmen.services.runtime import Runtime
from tests.interfaces.conftest import Serve, Served, rpc

LIST = rpc("tools/list")
KMEM = "/mcp/kmem"


def ask(limits: Limits, connection: str, now: float, bounds: Bounds | None = None) -> int:
    """0 when it was admitted, else the seconds to wait."""
    try:
        with limits.request(connection, now, bounds):
            return 0
    except Refusal as error:
        return int(error.headers["Retry-After"])


def test_a_connection_that_asks_too_often_is_told_when_to_come_back() -> None:
    limits = Limits(per_minute=6)
    assert [ask(limits, "a", 100.0) for _ in range(5)] == [0] * 5
    assert ask(limits, "a", 130.0) == 0
    assert ask(limits, "a", 130.0) == 30
    assert ask(limits, "a", 159.5) == 1
    assert [ask(limits, "a", 160.0) for _ in range(5)] == [0] * 5
    assert ask(limits, "a", 160.0) == 30


def test_no_minute_wherever_it_begins_has_more_than_the_limit() -> None:
    """C-342: whoever waits for as long as it was told comes in."""
    limits, dice, now = Limits(per_minute=60), random.Random(7), 0.0
    admitted: list[float] = []
    for _ in range(4_000):
        now += dice.random() * dice.choice((0.01, 0.5, 3))
        wait = ask(limits, "a", now)
        if wait:
            now += wait
            assert ask(limits, "a", now) == 0
        admitted.append(now)
    assert max(sum(at <= other < at + 60 for other in admitted[n : n + 80]) for n, at in enumerate(admitted)) == 60


def test_an_hour_counts_beside_the_minute() -> None:
    limits, bounds = Limits(), Bounds(per_minute=60, per_hour=100)
    assert sum(ask(limits, "a", second, bounds) == 0 for second in range(3_600)) == 100
    assert ask(limits, "a", 3_599, bounds) > 0
    assert ask(limits, "a", 3_660, bounds) == 0


def test_a_refusal_has_the_status_and_the_header_that_clients_know() -> None:
    limits = Limits(per_minute=1)
    ask(limits, "a", 0.0)
    with pytest.raises(Refusal) as caught, limits.request("a", 0.0):
        pass
    assert caught.value.status == 429
    assert caught.value.headers == {"Retry-After": "60"}
    assert caught.value.code == "rate-limited"


def test_connections_do_not_pay_for_each_other() -> None:
    limits = Limits(per_minute=1)
    assert ask(limits, "a", 0.0) == 0
    assert ask(limits, "a", 0.0) == 60
    assert ask(limits, "b", 0.0) == 0


def test_too_many_at_the_same_time_are_refused_until_one_has_ended() -> None:
    limits = Limits(at_once=2)
    with limits.request("a", 0.0):
        with limits.request("a", 0.0):
            assert ask(limits, "a", 0.0) == 1
            assert ask(limits, "b", 0.0) == 0
        assert ask(limits, "a", 0.0) == 0


def test_a_request_that_failed_gives_its_place_back() -> None:
    limits = Limits(at_once=1)
    with pytest.raises(ValueError), limits.request("a", 0.0):
        raise ValueError
    assert ask(limits, "a", 0.0) == 0


def test_no_limit_means_no_limit() -> None:
    limits = Limits()
    assert {ask(limits, "a", 0.0) for _ in range(2000)} == {0}
    assert {ask(limits, "a", 0.0, Bounds(0, 0, 0, 0, 0)) for _ in range(2000)} == {0}


def test_a_flood_of_connections_does_not_grow_the_table_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST", 50)
    table = Limits(per_minute=1)
    for number in range(200):
        ask(table, f"c{number}", 0.0)
    assert len(table._uses) == 50


# -------------------------------------------------------------------------------------------------- whose limits
ACTOR = Actor("v", "p", "codex", "write", "k")
OWN = Bounds(per_minute=7, per_hour=8, at_once=9)


@pytest.mark.parametrize(
    ("toolset", "own", "options", "expected", "calls"),
    [
        ("core", Bounds(), {}, (600, 0, 32), None),
        ("core", OWN, {"rate_limit": 5}, (7, 8, 9), None),
        ("core", Bounds(), {"rate_limit": 5, "hourly_limit": 6, "concurrency": 0}, (5, 6, 0), None),
        ("kmem", Bounds(), {}, (60, 1_000, 32), 4),
        ("kmem", Bounds(), {"rate_limit": 5, "concurrency": 3}, (5, 1_000, 3), 4),
        ("kmem", OWN, {"rate_limit": 5}, (7, 8, 32), 9),
        ("kmem", Bounds(per_minute=0, at_once=0), {}, (0, 1_000, 32), 0),
    ],
)
def test_a_connections_own_limit_stands_above_the_servers_and_that_above_the_toolsets(
    toolset: str, own: Bounds, options: dict[str, int], expected: tuple[int, ...], calls: int | None
) -> None:
    """C-342: kmem's figures are where a client speaks kmem, generous ones elsewhere; each can be set."""
    found = standing(replace(ACTOR, bounds=own), face(toolset), HttpOptions(**options))  # type: ignore[arg-type]
    assert (found.request.per_minute, found.request.per_hour, found.request.at_once) == expected
    assert (None if found.call is None else found.call.at_once) == calls


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def connection(served: Served, key: str) -> str:
    with served.rt.store.read() as tx:
        return next(c.id for c in tx.accounts.connections(served.owner().vault) if c.hint == key[-4:])


def statuses(served: Served, key: str, path: str, number: int) -> list[int]:
    return [served.post(LIST, path, **bearer(key)).status_code for _ in range(number)]


def test_at_kmems_tools_the_sixty_first_request_of_a_minute_is_refused(serve: Serve) -> None:
    """C-342: per link."""
    served = serve(auth="keys")
    key = served.key(toolset="kmem")
    assert statuses(served, key, "/mcp", 60) == [200] * 60
    refused = served.post(LIST, "/mcp", **bearer(key))
    assert refused.status_code == 429
    assert 0 < int(refused.headers["retry-after"]) <= 60
    assert "60 requests per minute" in refused.json()["error"]["message"]
    assert statuses(served, served.key(toolset="kmem"), "/mcp", 1) == [200]
    assert statuses(served, served.key(), "/mcp", 70) == [200] * 70
    assert statuses(served, served.key(), KMEM, 61)[-1] == 429


def test_an_owner_changes_the_limits_of_a_key_while_it_is_used(serve: Serve) -> None:
    """C-342: they count from the next request on."""
    served = serve(auth="keys")
    key = served.key(bounds=Bounds(per_minute=2))
    assert statuses(served, key, "/mcp", 3) == [200, 200, 429]
    limit_key(served.rt, served.owner(), connection(served, key), Bounds(per_minute=4))
    assert statuses(served, key, "/mcp", 3) == [200, 200, 429]
    limit_key(served.rt, served.owner(), connection(served, key), Bounds(per_minute=0))
    assert statuses(served, key, "/mcp", 3) == [200] * 3


def test_no_more_costly_calls_run_at_once_than_a_connection_may(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """C-342: recall, remember and edit are counted, reading is not."""
    from dolmen.interfaces.mcp.toolsets.kmem import reads

    served = serve(auth="keys")
    key = served.key(toolset="kmem")
    inside, go_on = threading.Semaphore(0), threading.Event()
    pack = reads.context_pack

    def slow(*args: object) -> object:
        inside.release()
        assert go_on.wait(20)
        return pack(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(reads, "context_pack", slow)
    recall = rpc("tools/call", name="recall", arguments={"query": "anything"})
    browse = rpc("tools/call", name="browse", arguments={})
    answers: list[int] = []
    threads = [
        threading.Thread(target=lambda: answers.append(served.post(recall, "/mcp", **bearer(key)).status_code))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert inside.acquire(timeout=20)
    refused = served.post(recall, "/mcp", **bearer(key))
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "1"
    assert served.post(browse, "/mcp", **bearer(key)).status_code == 200
    go_on.set()
    for thread in threads:
        thread.join(20)
    assert answers == [200] * 4
    assert served.post(recall, "/mcp", **bearer(key)).status_code == 200


# ------------------------------------------------------------------------------------------------ in the store
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_connection_with_a_quota_is_told_what_is_left_and_refused_beyond_it(
    serve: Serve, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C-338: the headers, on every answer; none where nothing is limited."""
    monkeypatch.setattr(quotas, "KEPT_FOR", 0.0)
    served = serve(engine, auth="keys")
    key = served.key(bounds=Bounds(memories=3))

    def left() -> tuple[str | None, ...]:
        headers = served.post(LIST, **bearer(key)).headers
        return tuple(headers.get(f"x-ratelimit-{name}") for name in ("limit", "remaining", "resource"))

    assert left() == ("3", "3", "memories")
    two = [{"content": "Deploys happen on Tuesday."}, {"content": "Builds take nine minutes."}]
    served.call("remember", headers=bearer(key), memories=two)
    assert left() == ("3", "1", "memories")
    refused = served.call("remember", headers=bearer(key), memories=[{"content": "a1"}, {"content": "b2"}])["error"]
    assert refused["code"] == "forbidden"
    assert "may keep 3 memories and has 2" in refused["message"]
    assert "dolmen key edit" in refused["fix"]
    note = [{"content": "One.\n\nTwo.", "note": True}]
    assert "error" in str(served.call("remember", headers=bearer(key), memories=note))
    served.call("handoff", headers=bearer(key), summary="Half of it is done.")
    assert left() == ("3", "0", "memories")
    assert "error" in served.call("reflect", headers=bearer(key), summary="A day.")
    other = served.post(LIST, **bearer(served.key()))
    assert not [name for name in other.headers if name.startswith("x-ratelimit")]


def test_a_connection_that_used_up_its_day_waits_for_midnight(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """C-339: counted in the store, so by every process; writes of many memories are one call."""
    served = serve(auth="keys")
    key = served.key(bounds=Bounds(per_day=3))
    many = [{"content": f"Fact number {n}."} for n in range(20)]
    served.call("remember", headers=bearer(key), memories=many)
    served.call("browse", headers=bearer(key))
    served.rt.journal.flush()
    other = serve(database=served.app.settings.database, auth="keys")
    monkeypatch.setattr(quotas, "KEPT_FOR", 0.0)
    other.call("browse", headers=bearer(key))
    served.rt.journal.flush()
    other.rt.journal.flush()
    refused = other.post(LIST, **bearer(key))
    assert refused.status_code == 429
    assert 0 < int(refused.headers["retry-after"]) <= 86_400
    assert "3 calls today" in refused.json()["error"]["message"]
    limit_key(other.rt, other.owner(), connection(other, key), Bounds(per_day=4))
    assert other.post(LIST, **bearer(key)).status_code == 200


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_many_calls_at_once_are_no_more_than_a_day_has(
    serve: Serve, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C-339: also where the store takes its time to count."""
    served = serve(engine, auth="keys")
    actor = accounts.authenticate(served.rt, served.key(bounds=Bounds(per_day=3)))
    together, counting, real = threading.Barrier(12), threading.Barrier(2), quotas.used

    def slow(rt: Runtime, actor: Actor) -> Used:
        with suppress(threading.BrokenBarrierError):
            counting.wait(0.5)  # for a second one that counts at the same time, where there is one
        return real(rt, actor)

    monkeypatch.setattr(quotas, "used", slow)
    one = quotas.Quotas(served.rt)

    def ask_once(_: int) -> bool:
        together.wait(20)
        try:
            one.admit(actor)
        except Refusal:
            return False
        return True

    with ThreadPoolExecutor(12) as pool:
        assert sum(pool.map(ask_once, range(12))) == 3


def test_a_connections_own_policy_stands_above_the_vaults_but_not_above_the_switch(serve: Serve) -> None:
    """C-140, C-141: read on every request."""
    served = serve(auth="keys")
    key = served.key(toolset="kmem", write_policy="review")

    def outcome(words: str) -> str:
        said = served.call("remember", headers=bearer(key), content=words, kind="note")
        assert said["write_policy"] == policy
        return str(said["outcome"])

    policy = "review"
    assert outcome("First.") == "queued"
    policy = "direct"
    limit_key(served.rt, served.owner(), connection(served, key), Bounds(), "direct")
    assert outcome("Second.") == "created"
    set_policy(served.rt, served.owner(), "agent_writes", "off")
    assert outcome("Third.") == "queued"
