"""One resource: who asks, whether they may, what they sent, and the answer as JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import anyio.to_thread
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from dolmen.domain.errors import DolmenError
from dolmen.domain.operations import permit
from dolmen.domain.values import Actor
from dolmen.interfaces.http.body import Body, attended
from dolmen.interfaces.http.door import MCP, Door
from dolmen.interfaces.http.limits import Limits
from dolmen.interfaces.http.quotas import Quotas, standing
from dolmen.interfaces.http.responses import Refusal, refusal, with_headers
from dolmen.interfaces.mcp.wire import without_half_pairs
from dolmen.services.runtime import Runtime


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request says."""

    query: Mapping[str, str]
    body: Any = None
    """The JSON value of a POST."""

    def only(self, *names: str) -> None:
        """Refuses a parameter that the resource does not know.

        Raises:
            DolmenError: `invalid-argument`.
        """
        if unknown := sorted(set(self.query) - set(names)):
            raise DolmenError(
                "invalid-argument", f"Unknown parameter {unknown[0]!r}.", f"Known are: {', '.join(names) or 'none'}."
            )


_RESOURCE = "/mcp/kenfold"
"""What a token of a client that signed in must be for: Kenfold's document has this interface beside its tools. One for
`/mcp` opens all that lies in it; a token for another toolset's path does not open this one."""

Handler = Callable[[Runtime, Actor, Asked], Mapping[str, Any]]
"""Blocking, in a thread of its own."""


class Endpoint:
    """An ASGI application for one path."""

    def __init__(self, door: Door, limits: Limits, quotas: Quotas, handlers: Mapping[str, Handler]) -> None:
        self._door, self._limits, self._quotas, self._handlers = door, limits, quotas, handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        quota: dict[str, str] = {}
        try:
            response = await self._answer(scope, receive, quota)
        except DolmenError as error:
            if error.code == "internal":
                raise
            response = refusal(error, scope["path"])
        await response(scope, receive, with_headers(send, quota))

    async def _answer(self, scope: Scope, receive: Receive, quota: dict[str, str]) -> Response:
        handler = self._handlers.get(scope["method"])
        if handler is None:
            allowed = ", ".join(self._handlers)
            raise Refusal(
                "invalid-argument", f"{scope['method'][:20]} is not served here.", f"Use {allowed}.", status=405,
                headers={"Allow": allowed},
            )  # fmt: skip
        actor = await anyio.to_thread.run_sync(self._actor, scope)
        scope["dolmen.actor"] = actor
        permit(actor, f"{scope['method']} {scope['path']}")
        bounds = standing(actor, None, self._door.options).request
        with self._limits.request(actor.connection, time.monotonic(), bounds):
            quota |= await anyio.to_thread.run_sync(self._quotas.admit, actor)
            receive = attended(receive, scope, self._actor, lambda: self._door.at_once(Headers(scope=scope)))
            asked = Asked(_query(scope), await self._body(scope, receive))
            return JSONResponse(await anyio.to_thread.run_sync(handler, self._door.rt, scope["dolmen.actor"], asked))

    def _actor(self, scope: Scope) -> Actor:
        headers, client = Headers(scope=scope), self._door.address(scope)
        actor = self._door.actor(headers, client=client, path=_RESOURCE, named=MCP)  # as Kenfold's document says
        if actor.toolset == "openai" and "authorization" in headers:
            raise DolmenError(
                "forbidden",
                "This key is for the toolset openai alone, which is two tools that read.",
                "Use a key without --toolset (`dolmen key create AGENT`), or sign in with `dolmen login`.",
            )
        return actor

    async def _body(self, scope: Scope, receive: Receive) -> Any:
        if scope["method"] != "POST":
            return None
        sent = await Body(_nothing, self._door.options).read(scope, receive)
        try:
            return json.loads(without_half_pairs(sent or b""))
        except (ValueError, RecursionError) as error:
            raise DolmenError("invalid-argument", "The body is no JSON.", "Send one JSON object, in UTF-8.") from error


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    """Behind a body that is only read."""


def _query(scope: Scope) -> Mapping[str, str]:
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    query = dict(pairs)
    if len(query) != len(pairs):
        raise DolmenError("invalid-argument", "A parameter is there twice.", "Send each once.")
    return query
