"""Which client is asking: one that registered here, or one whose id is the address of its document."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from anyio import to_thread

from dolmen.domain.oauth import Client, OAuthError
from dolmen.interfaces.http.oauth.fetching import Fetcher
from dolmen.services import oauth
from dolmen.services.runtime import Runtime

FRESH_FOR = 600.0
"""Seconds that a document is believed before it is fetched again."""
MOST = 200


@dataclass(slots=True)
class KnownClients:
    """Looks clients up. Documents are fetched again after a while; one that cannot be fetched any more is no client."""

    rt: Runtime
    fetcher: Fetcher
    _seen: dict[str, tuple[float, Client]] = field(default_factory=dict)

    async def get(self, id: str) -> Client:
        """The client.

        Raises:
            OAuthError: `invalid_client`, or what is wrong with its document.
        """
        if not id:
            raise OAuthError("invalid_request", "client_id is missing.")
        if not id.startswith("https://"):
            return await to_thread.run_sync(oauth.registered_client, self.rt, id)
        at, known = self._seen.get(id, (0.0, None))
        if known is not None and time.monotonic() - at < FRESH_FOR:
            return known
        document = await self.fetcher.json(id, typed=True)
        client = await to_thread.run_sync(oauth.document_client, self.rt, id, document)
        if len(self._seen) >= MOST:
            self._seen.clear()
        self._seen[id] = (time.monotonic(), client)
        return client
