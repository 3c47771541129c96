"""The REST interface: code references over HTTP, behind the same door as everything else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest

from dolmen.client.endpoint import Endpoint
from dolmen.client.refs import Served as Desk
from dolmen.client.refs import sync
from dolmen.domain.errors import DolmenError
from dolmen.domain.values import Bounds
from tests.client.given import checkout
from tests.interfaces.conftest import Serve, Served

pytestmark = pytest.mark.slow

SHOP = "github.com/acme/shop"
COMMIT = "a" * 40
REFS, CHECK = "/api/v1/refs", "/api/v1/refs/check"


def remembered(served: Served, text: str = "`total` in src/cart.py rounds half up", project: str = SHOP) -> str:
    [stored] = served.call("remember", memories=[{"content": text, "project": project}])["results"]
    ref: str = stored["ref"]
    return ref


def listed(served: Served, query: str = f"project={SHOP}", **headers: str) -> httpx2.Response:
    return served.http.get(f"{served.base}{REFS}?{query}", headers=headers)


def report(served: Served, *results: Any, headers: dict[str, str] | None = None, **body: Any) -> httpx2.Response:
    return served.post({"project": SHOP, "commit": COMMIT, "results": list(results), **body}, CHECK, **(headers or {}))


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_targets_are_listed_anchored_compared_and_counted(serve: Serve, engine: str) -> None:
    """C-228, C-231."""
    served = serve(engine)
    ref = remembered(served)
    first = listed(served)
    assert first.status_code == 200
    assert first.json() == {
        "scope": f"project:{SHOP}",
        "targets": [{"path": "src/cart.py", "symbol": ""}, {"path": "src/cart.py", "symbol": "total"}],
    }
    anchors = report(
        served,
        {"path": "src/cart.py", "symbol": "", "found": True, "hash": "blob:1"},
        {"path": "src/cart.py", "symbol": "total", "found": True, "hash": "def1:1"},
        {"path": "never.py", "symbol": "", "found": False},
    )
    assert anchors.json() == {"updated": 2, "anchored": 2, "unmatched": 1, "states": {"current": 2}}
    anchored = listed(served).json()["targets"]
    assert anchored[1] == {
        "path": "src/cart.py", "symbol": "total", "anchor_commit": COMMIT, "anchor_hash": "def1:1"
    }  # fmt: skip
    assert listed(served, f"project={SHOP}&checked=1").json()["targets"][1]["checked_commit"] == COMMIT
    assert listed(served, f"project={SHOP}&offset=2").json()["targets"] == []
    moved = {**anchored[1], "found": True, "hash": "def1:2", "resolved_path": "lib/cart.py"}
    del moved["anchor_hash"]
    assert report(served, moved, commit="b" * 40).json()["states"] == {"changed": 1}
    [claim] = served.call("recall", query="rounds half up", project=SHOP)["claims"]
    assert (claim["stale"], claim["code"]) == (True, ["total in src/cart.py has changed and is now in lib/cart.py"])
    shown = served.call("read", ref=ref)
    assert shown["stale"] is True
    assert shown["code_refs"] == [
        {"path": "src/cart.py", "state": "current", "checked_commit": COMMIT[:12]},
        {
            "path": "src/cart.py",
            "symbol": "total",
            "state": "changed",
            "now": "lib/cart.py",
            "checked_commit": "b" * 12,
        },
    ]


def test_every_error_is_one_text(serve: Serve) -> None:
    """C-228."""
    served = serve(body_limit=2000)
    wrong = [
        (listed(served, ""), 400),
        (listed(served, "project=user"), 400),
        (listed(served, "project=/home/me/shop"), 400),
        (listed(served, f"project={SHOP}&offset=x"), 400),
        (listed(served, f"project={SHOP}&limit=5"), 400),
        (listed(served, f"project={SHOP}&project=other"), 400),
        (served.post(b"{", CHECK), 400),
        (served.post(b"[1]", CHECK), 400),
        (served.post({"project": SHOP, "commit": COMMIT}, CHECK), 400),
        (report(served, commit="HEAD"), 400),
        (report(served, 1), 400),
        (report(served, {"path": "a.py", "symbol": "", "line": 3}), 400),
        (report(served, {"path": "a.py", "symbol": "", "found": 1}), 400),
        (report(served, {"path": "../a.py", "symbol": ""}), 400),
        (report(served, extra=1), 400),
        (report(served, *[{"path": "a.py"}] * 1001), 413),
        (served.post(b" " * 3000, CHECK), 413),
        (served.post({}, REFS), 405),
        (served.http.get(served.base + CHECK), 405),
        (served.http.get(served.base + "/api/v1/other"), 404),
        (served.http.get(f"{served.base}{REFS}", headers={"host": "evil.example"}), 403),
        (listed(served, Origin="https://evil.example"), 403),
    ]
    for answer, status in wrong:
        assert answer.status_code == status, answer.text
        assert list(answer.json()) == ["error"]
        assert isinstance(answer.json()["error"], str)
        assert len(answer.json()["error"]) > 20
    assert served.post({}, REFS).headers["allow"] == "GET"


def test_a_report_needs_a_key_that_may_write(serve: Serve) -> None:
    """C-228: 403 for one that may only read."""
    served = serve(auth="keys")
    keys = {mode: {"authorization": f"Bearer {served.key(mode=mode)}"} for mode in ("read", "suggest", "write")}
    assert listed(served).status_code == 401
    assert listed(served).headers["www-authenticate"] == "Bearer"
    assert {mode: listed(served, **key).status_code for mode, key in keys.items()} == dict.fromkeys(keys, 200)
    statuses = {mode: report(served, headers=key).status_code for mode, key in keys.items()}
    assert statuses == {"read": 403, "suggest": 403, "write": 200}


def test_requests_are_limited_and_audited_as_all_others(serve: Serve) -> None:
    served = serve(rate_limit=3)
    assert [listed(served).status_code for _ in range(5)] == [200, 200, 200, 429, 429]
    served.rt.journal.flush()
    with served.rt.store.read() as tx:
        assert {entry.op for entry in tx.journal.audited(served.owner().vault)} == {"refs:targets"}


def test_a_key_for_two_reading_tools_marks_nothing_here(serve: Serve) -> None:
    served = serve(auth="keys")
    reading = {"authorization": f"Bearer {served.key(toolset='openai')}"}
    report = {"project": SHOP, "commit": COMMIT, "results": [{"path": "a.py", "symbol": "a", "found": False}]}
    assert served.http.post(served.base + CHECK, json=report, headers=reading).status_code == 403
    refused = served.http.get(f"{served.base}{REFS}?project={SHOP}", headers=reading)
    assert (refused.status_code, "two tools that read" in refused.text) == (403, True)


def test_a_connection_that_used_up_its_day_finds_no_other_door(serve: Serve) -> None:
    """C-338, C-339."""
    served = serve(auth="keys")
    daily = {"authorization": f"Bearer {served.key(bounds=Bounds(per_day=2))}"}
    paths = ("/api/v1/refs?project=cart", "/api/v1/mirror/notes", "/api/v1/mirror", "/quick", "/mcp")
    answers = [served.http.get(served.base + path, headers=daily) for path in paths]
    assert [answer.status_code for answer in answers] == [200, 200, 429, 429, 405]
    assert "2 calls today" in answers[2].text
    few = {"authorization": f"Bearer {served.key(bounds=Bounds(memories=5))}"}
    assert served.http.get(served.base + paths[0], headers=few).headers["x-ratelimit-remaining"] == "5"


def test_a_client_keeps_memory_true_over_http(serve: Serve, tmp_path: Path) -> None:
    """C-224, C-225, C-231."""
    served = serve(auth="keys")
    key = served.key()
    item = {"content": "`total` in cart.py", "project": SHOP}
    served.call("remember", headers={"authorization": f"Bearer {key}"}, memories=[item])
    shop = checkout(tmp_path / "shop", cart_py="def total(): return 1\n")
    desk = Desk(Endpoint(served.url, key))
    first = sync(desk, shop.place, SHOP)
    assert (first.commit, first.targets, first.checked) == (shop.git("rev-parse", "HEAD"), 2, 2)
    assert first.states == {"current": 2}
    shop.commit(cart_py="def total(): return 2\n")
    assert sync(desk, shop.place, SHOP).states == {"changed": 2}
    assert sync(desk, tmp_path, SHOP).commit == ""
    assert sync(desk, shop.place, "github.com/acme/other").targets == 0
    with pytest.raises(DolmenError, match="API key") as refused:
        sync(Desk(Endpoint(served.url)), shop.place, SHOP)
    assert refused.value.code == "unauthorized"


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/mcp/core", ""])
def test_the_interface_is_found_beside_every_address_of_the_server(served: Served, path: str) -> None:
    remembered(served)
    assert len(Desk(Endpoint(served.base + path)).targets(SHOP, 0, 5)) == 2


def test_no_server_is_said_in_time() -> None:
    with pytest.raises(DolmenError, match="does not answer") as refused:
        Desk(Endpoint("http://127.0.0.1:9/mcp")).targets(SHOP, 0, 1)
    assert refused.value.code == "unavailable"
    with pytest.raises(DolmenError, match="does not answer"):
        Desk(Endpoint("http://127.0.0.1:x/mcp")).targets(SHOP, 0, 1)


def test_text_that_no_store_can_hold_is_refused_not_failed(served: Served) -> None:
    body = json.dumps({"project": SHOP, "commit": COMMIT, "results": [{"path": "\ud800.py", "symbol": "\0"}]})
    assert served.post(body.encode(), CHECK).status_code == 400


def test_the_command_reports_to_the_server_that_is_named_or_runs_here_else_to_the_store(
    serve: Serve, tmp_path: Path
) -> None:
    """C-224, C-346."""
    database = f"sqlite:///{tmp_path}/dolmen.db"
    served = serve(database=database, auth="keys")
    key = served.key()
    remembered_with(served, key, "`total` in cart.py")
    shop = checkout(tmp_path / "shop", cart_py="def total(): return 1\n")
    port = served.base.rpartition(":")[2]

    def run(*words: str, **settings: str) -> tuple[int, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DOLMEN_")}
        home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
        given = {f"DOLMEN_{name.upper()}": value for name, value in settings.items()}
        done = subprocess.run(
            [sys.executable, "-m", "dolmen", "refs", "sync", "--project", SHOP, *words], cwd=shop.place,
            env={**kept, **home, **given}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    nowhere = f"sqlite:///{tmp_path}/none.db"
    assert run(url=served.url, key=key, database=nowhere) == (0, said("2 current", shop.git("rev-parse", "HEAD")))
    shop.commit(cart_py="def total(): return 2\n")
    assert run(port=port, key=key, database=nowhere) == (0, said("2 changed", shop.git("rev-parse", "HEAD")))
    shop.commit(cart_py="def total(): return 1\n")
    assert run(port=port, database=database)[1] == said("2 current", shop.git("rev-parse", "HEAD"))
    code, refused = run(url=served.url, database=database)
    assert code == 5
    assert "API key" in refused
    assert run("--quiet", url=served.url, key=key) == (0, "")


def remembered_with(served: Served, key: str, text: str) -> None:
    item = {"content": text, "project": SHOP}
    served.call("remember", headers={"authorization": f"Bearer {key}"}, memories=[item])


def said(states: str, commit: str) -> str:
    return f"Checked 2 of 2 references of {SHOP} at {commit[:12]}.\nNow: {states}.\n"
