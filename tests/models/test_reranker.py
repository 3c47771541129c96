"""The reranker against a real server (C-153, C-157)."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from dolmen.models.contract import ModelUnavailable
from dolmen.models.reranker.choose import RerankerSettings, choose_reranker
from dolmen.models.reranker.http import LIMIT, TEXT_LIMIT, HttpReranker, RerankEndpoint
from tests.models.rerank_endpoint import RerankServer, Speaks

QUERY = "when does the library open"
TEXTS = ["herons nest in trees", "the library does open at nine", "the library is old"]


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with RerankServer() as server:
        yield server


@pytest.fixture
def reranker(server: RerankServer) -> Iterator[HttpReranker]:
    reranker = HttpReranker(RerankEndpoint(server.url, "m"))
    yield reranker
    reranker.close()


@pytest.mark.parametrize("speaks", ["jina", "voyage", "tei", "logits"])
def test_every_shape_gives_probabilities_in_the_order_of_the_texts(speaks: Speaks) -> None:
    """C-157"""
    with RerankServer(speaks) as server:
        reranker = HttpReranker(RerankEndpoint(server.url, "m"))
        found = reranker.rerank(QUERY, TEXTS)
        reranker.close()
    assert list(found) == pytest.approx([1e-6 if speaks != "logits" else 0.001, 0.8, 0.4], abs=0.001)
    assert all(0 < value <= 1 for value in found)


def test_a_server_of_another_shape_is_asked_in_its_own_from_then_on() -> None:
    with RerankServer("tei") as server:
        reranker = HttpReranker(RerankEndpoint(server.url, "m"))
        reranker.rerank(QUERY, TEXTS)
        reranker.rerank("another question", TEXTS)
        reranker.close()
    assert ["texts" in body for _, _, body in server.requests] == [False, True, True]
    assert server.requests[1][2] == {"query": QUERY, "texts": TEXTS, "truncate": True}


def test_key_and_model_are_sent_and_the_key_is_not_shown(server: RerankServer) -> None:
    endpoint = RerankEndpoint(server.url + "/v1/rerank", "m", "secret")
    reranker = HttpReranker(endpoint)
    reranker.rerank(QUERY, TEXTS)
    reranker.close()
    [(path, headers, body)] = server.requests
    assert (path, headers["Authorization"]) == ("/v1/rerank", "Bearer secret")
    assert body == {"model": "m", "query": QUERY, "documents": TEXTS, "top_n": 3}
    assert "secret" not in repr(endpoint)


def test_logits_that_all_lie_between_0_and_1_are_still_known_as_logits(server: RerankServer) -> None:
    server.speaks = "logits"
    reranker = HttpReranker(RerankEndpoint(server.url))
    reranker.rerank(QUERY, TEXTS)
    server.body = b'{"results": [{"index": 0, "relevance_score": 0.0}]}'
    assert list(reranker.rerank("another", ["x"])) == [0.5]
    told = HttpReranker(RerankEndpoint(server.url, scores="logit"))
    assert list(told.rerank("another", ["x"])) == [0.5]
    trusted = HttpReranker(RerankEndpoint(server.url, scores="probability"))
    assert list(trusted.rerank("another", ["x"])) == [1e-6]
    for each in (reranker, told, trusted):
        each.close()


def test_the_same_question_about_the_same_texts_is_sent_once(reranker: HttpReranker, server: RerankServer) -> None:
    assert reranker.rerank(QUERY, TEXTS) == reranker.rerank(QUERY, TEXTS)
    assert len(server.requests) == 1


def test_what_no_server_takes_is_not_sent(reranker: HttpReranker, server: RerankServer) -> None:
    reranker.rerank("a\0b\ud800", ["", "x" * 5_000])
    [(_, _, body)] = server.requests
    assert body["query"] == "a b?"
    assert body["documents"] == [" ", "x" * TEXT_LIMIT]
    assert list(reranker.rerank(QUERY, [])) == []


def test_a_server_that_dribbles_is_given_up_at_the_limit_and_then_left_alone(server: RerankServer) -> None:
    """C-153: the limit holds for the whole answer, not for each byte of it; the pause spares the next caller."""
    assert LIMIT == 4.0
    reranker = HttpReranker(RerankEndpoint(server.url), limit=0.5)
    server.hang = True
    started = time.monotonic()
    with pytest.raises(ModelUnavailable, match="no answer in") as caught:
        reranker.rerank(QUERY, TEXTS)
    assert time.monotonic() - started < 1.5
    assert "reranker" in caught.value.message
    with pytest.raises(ModelUnavailable, match="The reranker is not available: no answer in"):
        reranker.rerank("another", TEXTS)
    assert len(server.requests) == 1
    reranker.close()


@pytest.mark.parametrize("status", [429, 500, 503])
def test_one_passing_failure_is_not_seen(reranker: HttpReranker, server: RerankServer, status: int) -> None:
    server.failures = [status]
    assert len(reranker.rerank(QUERY, TEXTS)) == 3
    server.silent = 1
    assert len(reranker.rerank("another", TEXTS)) == 3


def test_a_server_that_fails_is_unavailable_with_its_status(reranker: HttpReranker, server: RerankServer) -> None:
    server.failures = [500, 500, 401]
    with pytest.raises(ModelUnavailable, match="status 500") as caught:
        reranker.rerank(QUERY, TEXTS)
    assert caught.value.code == "model-unavailable"
    assert "doctor" in caught.value.fix
    with pytest.raises(ModelUnavailable, match="status 401"):
        reranker.rerank(QUERY, TEXTS)
    assert len(reranker.rerank(QUERY, TEXTS)) == 3  # a failure is not remembered, and one that came at once no pause


@pytest.mark.parametrize(
    "body",
    [
        b"not json",
        b"[]",
        b"{}",
        b'{"results": {}}',
        b'{"results": [{"index": 0, "relevance_score": 0.5}]}',
        b'{"results": [{"index": 0, "relevance_score": 0.5}, {"index": 0, "relevance_score": 0.5}]}',
        b'[{"index": 0, "score": 0.1}, {"index": 2, "score": 0.1}]',
        b'[{"index": 0, "score": 0.1}, {"index": 1, "score": NaN}]',
        b'[{"index": 0, "score": "0.1"}, {"index": 1, "score": 0.2}]',
        b'[{"index": true, "score": 0.1}, {"index": 1, "score": 0.2}]',
        b"[1, 2]",
        b"[" * 100_000,
    ],
)
def test_an_answer_of_another_shape_is_unavailable(reranker: HttpReranker, server: RerankServer, body: bytes) -> None:
    server.body = body
    with pytest.raises(ModelUnavailable):
        reranker.rerank(QUERY, TEXTS[:2])


def test_nobody_listening_or_no_address_is_unavailable(server: RerankServer) -> None:
    url = server.url
    for address in (url.replace("127.0.0.1", "[::1]"), "ftp://h", "http://", "nonsense"):
        reranker = HttpReranker(RerankEndpoint(address))
        with pytest.raises(ModelUnavailable):
            reranker.rerank(QUERY, TEXTS)
        reranker.close()


def test_a_password_in_the_address_is_not_shown(server: RerankServer) -> None:
    reranker = HttpReranker(RerankEndpoint(server.url.replace("//", "//ada:hush@") + "/rerank"))
    assert len(reranker.rerank(QUERY, TEXTS)) == 3
    assert server.requests[0][1]["Authorization"].startswith("Basic ")
    server.failures = [401]
    with pytest.raises(ModelUnavailable) as caught:
        reranker.rerank("another", TEXTS)
    assert "hush" not in caught.value.message + reranker.model
    reranker.close()


def test_it_is_usable_from_many_threads_until_it_is_closed(reranker: HttpReranker) -> None:
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda n=n: found.append(len(reranker.rerank(f"q {n}", TEXTS))))  # type: ignore[misc]
        for n in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [3] * 16
    reranker.close()
    with pytest.raises(ModelUnavailable, match="closed"):
        reranker.rerank(QUERY, TEXTS)


def test_without_an_address_there_is_none() -> None:
    assert choose_reranker(RerankerSettings()) is None


def test_doctor_sees_what_works_what_fails_and_what_ranks_badly(server: RerankServer) -> None:
    def verify() -> tuple[str, bool]:
        choice = choose_reranker(RerankerSettings(server.url, model="m", key="secret"))
        assert choice is not None
        assert choice.describe()[0].value == f"m at {server.url}/rerank"
        fact = choice.verify()[-1]
        choice.reranker.close()
        return fact.value, fact.good

    said, good = verify()
    assert (said.startswith("works"), good) == (True, True)
    server.score = lambda query, text: 0.5
    said, good = verify()
    assert ("herons" in said, good) == (True, False)
    server.failures = [401]
    said, good = verify()
    assert ("status 401" in said, good) == (True, False)
