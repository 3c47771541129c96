"""Dolmen as a backend of membench through its own door: a real server process and the protocol's own client."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from bench.clients import Client, connected
from bench.retrieval.backend import BUDGET, Ids, Item, Leg, cut, sessions
from bench.servers import http_server
from dolmen.services.requests import Remembered

_BATCH = 100
_LOADED_AFTER = 120.0
"""Seconds that a corpus may take to be embedded per thousand documents."""


class ThroughMcp:
    """One corpus in a server of its own, reached with the core toolset."""

    def __init__(self, url: str, embedder: str) -> None:
        self._open = ExitStack()
        server = self._open.enter_context(http_server(url, embedder=embedder))
        self._client: Client = self._open.enter_context(connected(server.address))
        self._embeds = embedder != "none"
        self.ids = Ids()

    def store(self, items: Sequence[Item]) -> None:
        pieces = [(document, piece, created) for document, text, created in items for piece in cut(text)]
        self.ids.split = len(pieces) > len(items)
        session = sessions(items)
        for named, group in itertools.groupby(pieces, key=lambda piece: session(piece[2])):
            together = list(group)
            for at in range(0, len(together), _BATCH):
                self._remember(together[at : at + _BATCH], named)
        if self._embeds:
            self._wait_until_embedded(len(pieces))

    def _remember(self, batch: Sequence[Item], session: str | None) -> None:
        memories = [{"content": text, "source": document} for document, text, _ in batch]
        results = self._client.call("remember", conversation=session, memories=memories)["results"]
        for (document, *_), result in zip(batch, results, strict=True):
            self.ids.note(document, _result(result))

    def search(self, query: str, k: int, leg: Leg = "fused") -> list[str]:
        limit = 3 * k if self.ids.split else k
        answer = self._client.call("recall", query=query, limit=limit, budget_tokens=BUDGET)
        return self.ids.best([claim["ref"] for claim in answer["claims"]], k)

    def close(self) -> None:
        self._open.close()

    def _wait_until_embedded(self, documents: int) -> None:
        deadline = time.monotonic() + _LOADED_AFTER * (1 + documents / 1000)
        while True:
            health = self._client.call("recall", query="anything", limit=1)["index_health"]
            if health["embedding_coverage"] == 1 and "meaning" in health["legs"]:
                return
            if time.monotonic() > deadline:
                raise TimeoutError(f"not everything was embedded in time: {health}")
            time.sleep(1)


def _result(said: dict[str, Any]) -> Remembered:
    return Remembered(outcome=said["outcome"], ref=said.get("ref"), error=said.get("error"))
