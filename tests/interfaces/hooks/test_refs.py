"""A session's start looks at the code that memories speak of, and marks what is no longer so (C-218, C-224, C-227)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dolmen.services.code.checking import counts
from dolmen.services.remember import remember
from dolmen.services.requests import NewMemory
from tests.client.given import Checkout
from tests.hooking import Hooked, repository
from tests.interfaces.conftest import Serve, Served

pytestmark = pytest.mark.slow

PROJECT = "github.com/acme/shop"


@pytest.fixture
def shop(tmp_path: Path) -> Checkout:
    place = Checkout(repository(tmp_path / "shop"))
    place.commit(cart_py="def total(cart):\n    return sum(cart)\n", tax_py="def rate():\n    return 19\n")
    return place


def told(served: Served, *texts: str) -> None:
    remember(served.rt, served.owner(), [NewMemory(text, project=PROJECT) for text in texts])


def started(session: str, place: Checkout) -> dict[str, Any]:
    return {"session_id": session, "hook_event_name": "SessionStart", "source": "startup", "cwd": str(place.place)}


def states(served: Served) -> dict[str, int]:
    with served.rt.store.read() as tx:
        return counts(tx, served.owner(), PROJECT)


@pytest.mark.parametrize("mode", ["write", "read"])
def test_a_session_anchors_what_is_new_and_marks_what_has_changed(
    serve: Serve, shop: Checkout, tmp_path: Path, mode: str
) -> None:
    served = serve()
    (tmp_path / "home").mkdir()
    writing = Hooked(tmp_path / "home", served.url, served.key("claude-code"))
    told(served, "`total` in cart.py adds everything up", "`rate` in tax.py is the German one")
    first = writing.run(started("s1", shop))
    assert (first.code, first.warning) == (0, "")
    assert "stale" not in first.context
    assert states(served) == {"current": 4}
    shop.git("mv", "tax.py", "taxes.py")
    shop.commit(cart_py="def total(cart):\n    return max(cart)\n")
    second = Hooked(tmp_path / "home", served.url, served.key("codex", mode=mode)).run(started("s2", shop))
    assert second.code == 0
    assert "adds everything up" in second.context
    if mode == "read":  # may not report, and has its context all the same
        assert states(served) == {"current": 4}
        assert "stale" not in second.context
        return
    assert states(served) == {"current": 2, "changed": 2}
    lines = [line for line in second.context.splitlines() if "_py" in line or ".py" in line]
    assert "tax.py is now taxes.py; rate in tax.py is now in taxes.py" in lines[0]
    assert "stale: total in cart.py has changed" in lines[1]


def test_a_session_starts_where_nothing_can_be_looked_at(served: Served, tmp_path: Path) -> None:
    empty = Checkout(repository(tmp_path / "empty"))
    (tmp_path / "home").mkdir()
    told(served, "`total` in cart.py adds everything up")
    said = Hooked(tmp_path / "home", served.url).run(started("s1", empty))
    assert (said.code, said.warning) == (0, "")
    assert "adds everything up" in said.context
    assert states(served) == {"pending": 2}


def test_the_store_of_this_machine_is_told_where_no_server_runs(shop: Checkout, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    alone = Hooked(home, more={"DOLMEN_PORT": "9"})
    item = ("memory", "add", "`total` in cart.py adds everything up", "--project", PROJECT)
    run(alone, *item)
    assert "adds everything up" in alone.run(started("s1", shop)).context
    assert "2 current" in run(alone, "refs", "status", "--project", PROJECT)
    shop.commit(cart_py="")
    assert "stale: total in cart.py is gone" in alone.run(started("s2", shop)).context


def run(hooked: Hooked, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "dolmen", *words], env=hooked.environment, check=True, capture_output=True, text=True
    )
    return done.stdout
