"""One search behind every door (B025)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from dolmen.interfaces.cli.main import cli
from dolmen.interfaces.http.options import HttpOptions
from dolmen.services.context import context
from dolmen.services.requests import ContextRequest
from tests.conftest import ENGINES, NewStore
from tests.interfaces.conftest import serving
from tests.models.rerank_endpoint import RerankServer

QUERY = "which heron report is late"
TEXTS = (
    "The heron report is late in the rainy season.",
    "Heron counts are kept in a ledger by the lake.",
    "Reports are due on Mondays; late ones are counted.",
    "The report of the northern heron colony is in German.",
    "Rain is measured at seven in the morning.",
    "A heron is late when it comes after sunset.",
)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("reranked", [False, True])
def test_every_door_gives_the_same_order(engine: Any, reranked: bool, new_store: NewStore) -> None:
    """B025: tools of each toolset, the brief, and the command line."""
    url = new_store(engine)
    with RerankServer() as judge:
        judge.score = lambda query, text: len(text) % 10 / 10
        settings = {"rerank_url": judge.url} if reranked else {}
        with serving(url, HttpOptions(), embedder="none", **settings) as served:
            health = served.http.get(served.base + "/health").json()
            assert health["reranker"] == (judge.url.removeprefix("http://") if reranked else None)
            for text in TEXTS:
                served.call("remember", memories=[{"content": text}])
            core = [claim["ref"] for claim in served.call("recall", query=QUERY)["claims"]]
            chat = [found["id"] for found in served.call("search", "/mcp/openai", query=QUERY)["results"]]
            kenfold = [found["id"] for found in served.call("recall", "/mcp/kenfold", query=QUERY)["memories"]]
            brief = context(served.rt, served.owner(), ContextRequest(task=QUERY, priority=("relevant",)))
            environment = {"DOLMEN_DATABASE": url, "DOLMEN_EMBEDDER": "none"}
            environment |= {"DOLMEN_RERANK_URL": judge.url} if reranked else {}
            done = CliRunner().invoke(cli, ["memory", "search", QUERY, "--user", "--json"], env=environment)
    line = [claim["ref"] for claim in json.loads(done.stdout)["claims"]]
    assert len(core) >= 3
    assert chat == core
    assert kenfold == core
    assert [claim.ref for claim in brief.relevant] == core
    assert line == core
