"""`dolmen eval` with models: legs, comparisons, and what it leaves as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dolmen.app import open_app
from dolmen.interfaces.cli.main import cli
from dolmen.services.accounts import local_actor
from dolmen.services.remember import remember
from dolmen.services.requests import NewMemory
from dolmen.settings import Settings
from tests.conftest import ENGINES, Engine, NewStore
from tests.models.endpoint import EmbeddingServer
from tests.models.rerank_endpoint import RerankServer

TEXTS = ("Heron heron heron heron.", "The heron nests in the tall reed by the lake.", "Rain is measured at seven.")


def evaluate(url: str, *words: str, **settings: str) -> Any:
    environment = {"DOLMEN_DATABASE": url, "DOLMEN_EMBEDDER": "none"}
    environment |= {f"DOLMEN_{name.upper()}": value for name, value in settings.items()}
    done = CliRunner().invoke(cli, ["eval", "--json", *words], env=environment)
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout) | {"warnings": [json.loads(line)["warning"] for line in done.stderr.splitlines()]}


@pytest.fixture(params=ENGINES)
def filled(request: pytest.FixtureRequest, new_store: NewStore) -> str:
    engine: Engine = request.param
    url = new_store(engine)
    with open_app(Settings(database=url), models=False) as app:
        actor = local_actor(app.runtime, agent="test")
        remember(app.runtime, actor, [NewMemory(text, project="birds") for text in TEXTS])
    return url


@pytest.fixture
def questions(tmp_path: Path) -> str:
    file = tmp_path / "questions.csv"
    file.write_text("query,contains\nheron,tall reed\n", encoding="utf-8")
    return str(file)


def test_what_a_reranker_does_is_measured_and_what_is_without_it(filled: str, questions: str) -> None:
    with RerankServer() as judge:
        judge.score = lambda query, text: 0.9 if "reed" in text else 0.1
        found = evaluate(
            filled, "--questions", questions, "--with", "reranker=off", "--with", "rerank_top=1", rerank_url=judge.url
        )
        assert [(each["leg"], each["with"], each["mrr"]) for each in found["legs"]] == [
            ("words", None, 0.5),
            ("reranked", None, 1.0),
            ("words", "reranker=off", 0.5),
            ("reranked", "rerank_top=1", 0.5),
        ]
        assert [place["place"] for place in found["places"]] == [1]
        found = evaluate(filled, "--questions", questions, "--with", f"rerank_url={judge.url}")
        assert [(each["leg"], each["mrr"]) for each in found["legs"]] == [("words", 0.5), ("reranked", 1.0)]


def test_another_embedding_model_is_compared_without_touching_the_vectors(filled: str, questions: str) -> None:
    """A model without vectors in this store finds by words alone, which is said."""
    with EmbeddingServer() as server:
        current = {"embedder": "http", "embeddings_url": server.url, "embeddings_model": "one"}
        evaluate(filled, "--questions", questions, **current)
        found = evaluate(filled, "--questions", questions, "--with", "embeddings_model=two", **current)
        assert [each["leg"] for each in found["legs"]] == ["words", "meaning", "fused", "fused"]
        [warning] = found["warnings"]
        assert "0 of 3 passages have vectors of that model" in warning
    with open_app(Settings(database=filled), models=False) as app, app.runtime.store.read() as tx:
        assert tx.index.find_model("http:two", 32) is None


def test_a_model_that_fails_is_told(filled: str, questions: str) -> None:
    with RerankServer() as judge:
        judge.body = b"nonsense"
        found = evaluate(filled, "--questions", questions, rerank_url=judge.url)
    assert found["legs"][-1]["failed"] == 1
    assert found["warnings"] == ["1 of 1 questions went without a model that should have answered"]
