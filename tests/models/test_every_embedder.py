"""What every embedder promises, run on each of them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dolmen.models.contract import Embedder, ModelUnavailable
from dolmen.models.e5 import e5_embedder
from dolmen.models.http import Endpoint, HttpEmbedder
from dolmen.models.use import use_embedder
from tests.models.endpoint import EmbeddingServer

pytestmark = pytest.mark.slow

TEXTS = ["We deploy on Tuesdays.", "결제 재시도는 다섯 번까지다.", "def retry(limit: int) -> None: ..."]
HARD = ["", " ", "\0", "a\0b", "\ufdfa" * 8, "\ud800 half", "\U0001f44d\U0001f3fd", "x" * 100_000, "나는 " * 30_000]


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as server:
        yield server


@pytest.fixture(scope="module", params=["e5", "use", "http"])
def embedder(request: pytest.FixtureRequest, server: EmbeddingServer) -> Iterator[Embedder]:
    make: dict[str, Callable[[], Embedder]] = {
        "e5": e5_embedder,
        "use": use_embedder,
        "http": lambda: HttpEmbedder(Endpoint(server.url, "test-model")),
    }
    embedder = make[request.param]()
    yield embedder
    embedder.close()
    with pytest.raises(ModelUnavailable):
        embedder.embed_query("after close")


def test_documents_come_back_as_unit_rows_in_their_order(embedder: Embedder) -> None:
    together = embedder.embed_documents(TEXTS)
    assert together.shape == (3, embedder.dim)
    assert together.dtype == np.float32
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    alone = np.stack([embedder.embed_documents([text])[0] for text in TEXTS])
    assert np.allclose((together * alone).sum(1), 1, atol=1e-4)


def test_no_documents_give_no_rows(embedder: Embedder) -> None:
    embedder.embed_query("an endpoint's dimension is known after its first answer")
    assert embedder.embed_documents([]).shape == (0, embedder.dim)


def test_any_text_has_a_finite_unit_vector(embedder: Embedder) -> None:
    vectors = embedder.embed_documents(HARD)
    assert np.isfinite(vectors).all()
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for text in HARD:
        assert embedder.embed_query(text).shape == (embedder.dim,)


def test_the_same_question_gives_the_same_vector_and_cannot_be_spoilt(embedder: Embedder) -> None:
    first = embedder.embed_query("When do we deploy?")
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 1.0
    assert (embedder.embed_query("When do we deploy?") == first).all()


def test_many_threads_get_what_one_gets(embedder: Embedder) -> None:
    questions = [f"question {i} {text}" for i in range(4) for text in TEXTS]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(embedder.embed_documents, [[q] for q in questions]))
    for question, vector in zip(questions, together, strict=True):
        assert np.allclose(vector, embedder.embed_documents([question]), atol=1e-6)


@pytest.mark.parametrize("make", [e5_embedder, use_embedder])
def test_composed_and_decomposed_hangul_are_one_text(make: Callable[[], Embedder]) -> None:
    embedder = make()
    text = "릴리스는 화요일에 한다"
    decomposed = unicodedata.normalize("NFD", text)
    assert decomposed != text
    assert (embedder.embed_query(text) == embedder.embed_query(decomposed)).all()
    embedder.close()
