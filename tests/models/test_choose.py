"""Which embedder do which settings give, and is the reason told?"""

from __future__ import annotations

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.models.choose import Choice, EmbedderSettings, choose
from dolmen.models.contract import ModelUnavailable
from dolmen.models.none import NoEmbedder
from tests.models.endpoint import EmbeddingServer


def values(choice: Choice) -> dict[str, str]:
    return {fact.name: fact.value for fact in choice.describe()}


def test_the_default_is_the_embedded_model() -> None:
    choice = choose(EmbedderSettings())
    assert (choice.embedder.model, choice.embedder.dim) == ("e5-small-q4@1", 384)
    assert values(choice)["embedding model"] == "e5-small-q4@1"
    assert all(fact.good for fact in choice.verify())


def test_an_address_alone_switches_to_the_endpoint() -> None:
    choice = choose(EmbedderSettings(url="http://localhost:11434/v1", model="bge-m3", dimensions=1024))
    assert (choice.embedder.model, choice.embedder.dim) == ("http:bge-m3/1024", 1024)
    assert values(choice)["endpoint"] == "http://localhost:11434/v1/embeddings"


def test_local_ignores_an_address() -> None:
    assert choose(EmbedderSettings("local", url="http://h", model="m")).embedder.dim == 384


def test_none_refuses_with_its_reason() -> None:
    choice = choose(EmbedderSettings("none"))
    assert (choice.embedder.dim, choice.embedder.ready) == (0, False)
    for call in (lambda: choice.embedder.embed_query("q"), lambda: choice.embedder.embed_documents(["d"])):
        with pytest.raises(ModelUnavailable, match="switched off"):
            call()
    assert choice.verify()[-1].good  # off by choice is not a fault


@pytest.mark.parametrize(
    "settings",
    [EmbedderSettings("http", model="m"), EmbedderSettings("http", url="http://h"), EmbedderSettings(url="http://h")],
)
def test_an_incomplete_endpoint_is_a_configuration_error(settings: EmbedderSettings) -> None:
    with pytest.raises(DolmenError) as caught:
        choose(settings)
    assert caught.value.code == "configuration"
    assert caught.value.fix


def test_doctor_sees_an_endpoint_that_refuses() -> None:
    with EmbeddingServer() as server:
        choice = choose(EmbedderSettings(url=server.url, model="m", key="secret"))
        assert choice.verify()[-1].value == "works, 32 dimensions"
        choice.embedder.close()
        choice = choose(EmbedderSettings(url=server.url, model="m", key="secret"))
        server.failures = [401]
        fact = choice.verify()[-1]
        choice.embedder.close()
    assert (fact.good, "401" in fact.value, "secret" in repr(choice)) == (False, True, False)


def test_a_missing_model_is_reported_with_the_way_to_get_it() -> None:
    missing = NoEmbedder("no local model is installed", "Install it")
    with pytest.raises(ModelUnavailable) as caught:
        missing.embed_query("q")
    assert caught.value.fix == "Install it"
