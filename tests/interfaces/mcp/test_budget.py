"""A token budget is a promise about what the agent really reads: the JSON of the answer."""

from __future__ import annotations

import json
import warnings

import pytest

from dolmen.domain.memory import Case
from dolmen.domain.values import DAY
from dolmen.interfaces.mcp.presenting import claim
from dolmen.services.edit import edit, link
from dolmen.services.requests import CaseView, Edit, Pack
from tests.services.conftest import close_house, open_house

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # bpe_openai warns about its own name
    import bpe_openai

    CL100K = bpe_openai.get_encoding("cl100k_base")

TEXTS = {
    "prose": "The deployment of service {n} needs care, because its migrations run before the pods start. " * 8,
    "korean": "서비스 {n}의 배포는 마이그레이션이 먼저 실행되기 때문에 주의가 필요하다. deployment " * 8,
    "tabs and lines": "deployment\t{n}\t0\n\t\tx\n" * 40,
    "quotes": 'deployment {n}: {{"key": "value", "path": "C:\\\\dir\\\\x"}}\n' * 12,
    "regex": r"deployment {n} ^(?:[^\"\\]|\\.)*$ \b\d+\.\d+\b " * 12,
    "table": "| deployment {n} | yes | no |\n|---|---|---|\n" * 12,
    "emoji": "deployment {n} 🚀🔥✅ " * 25,
}


def _tokens(pack: Pack, now: int) -> int:
    shown = [claim(one, now) for one in pack.claims]
    cases = [_case(view, now) for view in pack.cases]
    conflicts = [{"refs": list(c.refs), "why": c.why} for c in pack.conflicts]
    answer = json.dumps([*shown, *cases, *conflicts], ensure_ascii=False, separators=(",", ":"))
    return len(CL100K.encode(answer))


def _case(view: CaseView, now: int) -> dict[str, object]:
    told = {"id": view.id, "goal": view.goal, "outcome": view.outcome, "resolution": view.resolution}
    return {**told, "events": [claim(event, now) for event in view.events]}


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("budget", [400, 1500, 4000])
def test_what_is_used_bounds_what_is_read(sqlite_url: str, kind: str, budget: int) -> None:
    """C-10, C-189, whatever the text is made of and whatever was asked for besides."""
    house = open_house(sqlite_url)
    refs = [house.stored(TEXTS[kind].format(n=n)[:1900], case=Case("INC", goal="g" * 300)) for n in range(8)]
    for other in refs[1:]:
        link(house.rt, house.agent, refs[0], "contradicts", other)
    house.clock.advance(DAY)
    edit(house.rt, house.agent, Edit(refs[0], "amend", fields={"tags": [f"tag-{n}" for n in range(20)]}))
    for mode in ("claims", "cases", "timeline"):
        pack = house.recall("deployment", mode=mode, budget_tokens=budget, include=("links", "explain", "sources"))
        assert pack.claims or pack.cases
        read = _tokens(pack, house.clock.now)
        assert read <= pack.budget.used * 1.05, (mode, read, pack.budget)
        assert pack.budget.used <= budget, (mode, pack.budget)
        assert pack.partial == (pack.budget.dropped > 0)
    close_house(house)


def test_pages_under_a_small_budget_reach_everything(sqlite_url: str) -> None:
    """What the budget dropped is on the next page."""
    house = open_house(sqlite_url)
    refs = {house.stored(f"Server rack {n} holds machine {n}, " + "and a long story about it. " * 6) for n in range(30)}
    seen: list[str] = []
    cursor = None
    for _ in range(40):
        pack = house.recall("server rack machine", limit=10, budget_tokens=400, cursor=cursor)
        seen += [one.ref for one in pack.claims]
        cursor = pack.cursor
        if cursor is None:
            break
    assert len(seen) == len(set(seen))
    assert set(seen) == refs
    close_house(house)


def test_a_budget_that_cannot_be_kept_is_said(sqlite_url: str) -> None:
    house = open_house(sqlite_url)
    house.stored("Herons nest in May.")
    assert "was taken as 200" in " ".join(house.recall("herons", budget_tokens=5).notes)
    close_house(house)
