from __future__ import annotations

import socket

import pytest

from dolmen.models.breaker import PAUSE, Breaker
from dolmen.models.contract import ModelUnavailable
from dolmen.models.http import Endpoint, HttpEmbedder


def test_a_failure_is_answered_at_once_until_the_pause_is_over() -> None:
    now = 100.0
    breaker = Breaker(clock=lambda: now)
    breaker.check()
    breaker.failed(ModelUnavailable("it hangs"))
    with pytest.raises(ModelUnavailable, match="it hangs"):
        breaker.check()
    now += PAUSE
    breaker.check()  # this caller tries again
    with pytest.raises(ModelUnavailable):
        breaker.check()  # the others still wait for its success
    breaker.succeeded()
    breaker.check()


def test_an_endpoint_that_hangs_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """B210: recall goes on by words, without paying the timeout again."""
    monkeypatch.setattr("dolmen.models.http.QUERY_TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        embedder = HttpEmbedder(Endpoint(f"http://127.0.0.1:{silent.getsockname()[1]}/v1", "m"))
        with pytest.raises(ModelUnavailable, match="no answer"):
            embedder.embed_query("first")
        silent.close()  # a second request would be refused, with another message
        with pytest.raises(ModelUnavailable, match="no answer"):
            embedder.embed_query("second")
        embedder.close()
