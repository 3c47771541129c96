"""The endpoint embedder against a real server."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import numpy as np
import pytest

from dolmen.models.contract import ModelUnavailable
from dolmen.models.http import BATCH_TEXTS, Endpoint, HttpEmbedder
from tests.models.endpoint import EmbeddingServer, vector


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as server:
        yield server


@pytest.fixture
def embedder(server: EmbeddingServer) -> Iterator[HttpEmbedder]:
    embedder = HttpEmbedder(Endpoint(server.url, "m"))
    yield embedder
    embedder.close()


def test_rows_follow_the_index_and_not_the_order_of_the_answer(embedder: HttpEmbedder) -> None:
    texts = ["one", "two", "three"]
    expected = np.array([vector(text) for text in texts])
    rows = embedder.embed_documents(texts)
    assert np.allclose(rows, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)


def test_key_model_dimensions_and_prefixes_are_sent(server: EmbeddingServer) -> None:
    endpoint = Endpoint(server.url, "m", "secret", 16, query_prefix="query: ", document_prefix="passage: ")
    embedder = HttpEmbedder(endpoint)
    assert embedder.embed_query("q").shape == (16,)
    embedder.embed_documents(["d"])
    (headers, query), (_, document) = server.requests
    assert headers["Authorization"] == "Bearer secret"
    assert query == {"model": "m", "input": ["query: q"], "dimensions": 16}
    assert document["input"] == ["passage: d"]
    assert "secret" not in repr(endpoint)
    embedder.close()


def test_vectors_of_another_model_size_or_prefix_have_another_identity() -> None:
    endpoints = [Endpoint("http://h", "m"), Endpoint("http://h", "n"), Endpoint("http://h", "m", dimensions=8)]
    endpoints += [Endpoint("http://h", "m", document_prefix="passage: ")]
    assert len({HttpEmbedder(endpoint).model for endpoint in endpoints}) == len(endpoints)
    assert HttpEmbedder(Endpoint("http://elsewhere", "m")).model == HttpEmbedder(endpoints[0]).model


def test_vectors_are_kept_under_the_name_that_a_person_gives_them() -> None:
    """C-378: as `KENFOLD_EMBED_NAME`; the endpoint is asked for the model all the same."""
    named = HttpEmbedder(Endpoint("http://h", "m:latest", name="m-2026-11"))
    assert named.model == HttpEmbedder(Endpoint("http://h", "m:other", name="m-2026-11")).model == "http:m-2026-11"


def test_many_documents_go_in_several_requests(embedder: HttpEmbedder, server: EmbeddingServer) -> None:
    rows = embedder.embed_documents([f"text {i}" for i in range(BATCH_TEXTS + 1)])
    assert len(rows) == BATCH_TEXTS + 1
    assert [len(body["input"]) for _, body in server.requests] == [BATCH_TEXTS, 1]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_one_passing_failure_is_not_seen(embedder: HttpEmbedder, server: EmbeddingServer, status: int) -> None:
    server.failures = [status]
    assert embedder.embed_query("q").shape == (32,)
    assert len(server.requests) == 2


def test_a_connection_that_closes_without_an_answer_is_tried_once_more(
    embedder: HttpEmbedder, server: EmbeddingServer
) -> None:
    server.silent = 1
    assert embedder.embed_query("q").shape == (32,)


def test_two_failures_are_unavailable_with_the_status(embedder: HttpEmbedder, server: EmbeddingServer) -> None:
    server.failures = [500, 503]
    with pytest.raises(ModelUnavailable, match="status 503") as caught:
        embedder.embed_query("q")
    assert caught.value.code == "model-unavailable"
    assert "doctor" in caught.value.fix


def test_a_wrong_key_is_not_tried_again(embedder: HttpEmbedder, server: EmbeddingServer) -> None:
    server.failures = [401]
    with pytest.raises(ModelUnavailable, match="status 401"):
        embedder.embed_query("q")
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"not json",
        b"[]",
        b'{"error": "x"}',
        b'{"data": []}',
        b'{"data": [{"index": 0}]}',
        b'{"data": [{"index": 0, "embedding": []}]}',
        b'{"data": [{"index": 0, "embedding": ["a"]}]}',
        b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}',
        b'{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1]}]}',
    ],
)
def test_an_answer_of_another_shape_is_unavailable(
    embedder: HttpEmbedder, server: EmbeddingServer, body: bytes
) -> None:
    server.body = body
    with pytest.raises(ModelUnavailable):
        embedder.embed_query("q")


def test_a_model_that_changes_its_dimension_is_refused(embedder: HttpEmbedder, server: EmbeddingServer) -> None:
    embedder.embed_query("q")
    server.body = b'{"data": [{"index": 0, "embedding": [1.0, 2.0]}]}'
    with pytest.raises(ModelUnavailable, match="2 dimensions instead of 32"):
        embedder.embed_query("another")


def test_nobody_listening_is_unavailable() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    embedder = HttpEmbedder(Endpoint(f"http://127.0.0.1:{port}/v1", "m"))
    with pytest.raises(ModelUnavailable, match="ConnectError"):
        embedder.embed_query("q")
    embedder.close()


def test_a_failed_question_is_asked_again(embedder: HttpEmbedder, server: EmbeddingServer) -> None:
    server.failures = [401]
    with pytest.raises(ModelUnavailable):
        embedder.embed_query("q")
    assert embedder.embed_query("q").shape == (32,)
