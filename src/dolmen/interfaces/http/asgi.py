"""The ASGI application: MCP at /mcp and /mcp/<toolset>, Quick Connect at /quick, REST at /api/v1, /health, /metrics;
anything else is a page for people, or a refusal."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from dolmen.domain.errors import DolmenError
from dolmen.domain.values import Actor
from dolmen.interfaces.http import openapi, quick, rest
from dolmen.interfaces.http.body import Body, attended
from dolmen.interfaces.http.capability import checking
from dolmen.interfaces.http.door import Door, agent_of, toolset_of, unauthorized
from dolmen.interfaces.http.framing import CleanHeaders
from dolmen.interfaces.http.health import facts
from dolmen.interfaces.http.hosts import HostPolicy
from dolmen.interfaces.http.limits import Limits
from dolmen.interfaces.http.metrics import CONTENT_TYPE, Metrics
from dolmen.interfaces.http.middleware import Guard, Log
from dolmen.interfaces.http.options import HttpOptions
from dolmen.interfaces.http.quotas import Quotas, standing
from dolmen.interfaces.http.responses import Refusal, refusal, with_headers
from dolmen.interfaces.mcp import sdk
from dolmen.interfaces.mcp.dispatch import Watch
from dolmen.interfaces.mcp.registry import Face, faces
from dolmen.interfaces.mcp.server import UNKNOWN_AGENT, Context, build
from dolmen.services.runtime import Runtime

_log = logging.getLogger(__name__)

Servers = Mapping[str, sdk.Server[Any]]
"""A protocol server per toolset."""


def create_app(rt: Runtime, options: HttpOptions, servers: Servers | None = None) -> Starlette:
    """The application over a running memory. `servers` replaces the product's own toolsets (conformance fixtures)."""
    hosts = HostPolicy(options)
    metrics = Metrics(rt)
    door = Door(rt, options, hosts)
    endpoint = _Mcp(door, servers or _servers(rt, options, metrics), options)
    surroundings = _Surroundings(rt, door, metrics)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with endpoint.running():
            if rt.embedder is not None:
                rt.embedder.warm()
            yield

    return Starlette(
        routes=[
            *(Route(path, endpoint) for path in ("/mcp", "/mcp/", "/mcp/{toolset}", "/mcp/{toolset}/")),
            *rest.routes(door, endpoint.limits, endpoint.quotas),
            *openapi.routes(options),
            *quick.routes(door, endpoint.limits, endpoint.quotas, metrics),
            *_sign_in(rt, door),
            Route("/health", surroundings.health),
            Route("/metrics", surroundings.metrics),
            Route("/{path:path}", surroundings.nothing, methods=["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]),
        ],
        middleware=[
            Middleware(Log, metrics.request),
            Middleware(CleanHeaders),
            Middleware(Guard, hosts),
        ],
        lifespan=lifespan,
    )


def _sign_in(rt: Runtime, door: Door) -> list[Route]:
    """The pages and calls of signing in: where there is a public address to come back to."""
    if not door.options.base:
        return [Route("/web/style.css", _style)]
    from dolmen.interfaces.http.oauth.routes import routes

    return routes(
        rt,
        door.options.base,
        address=lambda request: door.address(request.scope),
        registration=door.options.registration,
        options=door.options,
    )


def _servers(rt: Runtime, options: HttpOptions, watch: Watch) -> Servers:
    limiter = anyio.CapacityLimiter(options.workers)
    return {
        toolset: build(rt, face, _resolve, limiter=limiter, watch=watch)
        for toolset, face in faces(options.public_url).items()
    }


def _resolve(ctx: Context) -> Actor:
    """The actor that the door found; under the client's own name where neither key nor header names the agent."""
    request: Request | None = ctx.request
    assert request is not None
    actor: Actor = request.scope["dolmen.actor"]
    if actor.agent != UNKNOWN_AGENT or ctx.session.client_params is not None:
        return actor
    agent = agent_of(request.headers.get("user-agent", ""))
    return actor if agent is None else replace(actor, agent=agent)


class _Mcp:
    """The MCP endpoint: door, toolset, limits; only then the body, of which nothing is read for a stranger."""

    def __init__(self, door: Door, servers: Servers, options: HttpOptions) -> None:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        self.door, self.options = door, options
        self.limits, self.quotas = Limits(), Quotas(door.rt)
        self.managers = {
            toolset: StreamableHTTPSessionManager(
                server,
                stateless=options.stateless,
                json_response=options.json_response,
                max_request_body_size=options.body_limit,
            )
            for toolset, server in servers.items()
        }
        self.faces: dict[str, Face] = {name: face for name, face in faces(options.public_url).items()}  # noqa: C416
        self.endpoints = {
            name: Body(manager.handle_request, options, checking(self.faces[name], options.base, self.limits))
            for name, manager in self.managers.items()
        }

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for manager in self.managers.values():
                await stack.enter_async_context(manager.run())
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            known = self.door.at_once(Headers(scope=scope))
            actor = self._actor(scope) if known else await anyio.to_thread.run_sync(self._actor, scope)
            scope["dolmen.actor"] = actor
            toolset = self._toolset(scope, actor)
            if self.options.stateless and scope["method"] not in ("POST", "OPTIONS"):
                raise _no_sessions()
            stand = scope["dolmen.standing"] = standing(actor, self.faces[toolset], self.options)
            with self.limits.request(actor.connection, time.monotonic(), stand.request):
                quota = await self._quota(actor)
                receive = attended(receive, scope, self._actor, lambda: self.door.at_once(Headers(scope=scope)))
                await self.endpoints[toolset](scope, receive, with_headers(send, quota))
        except DolmenError as error:
            if error.code == "internal":
                raise
            await _shown(Request(scope), refusal(error), self.options, tools=True)(scope, receive, send)

    def _actor(self, scope: Scope) -> Actor:
        query = scope["query_string"].decode("latin-1")
        return self.door.actor(Headers(scope=scope), query, client=self.door.address(scope), path=scope["path"])

    async def _quota(self, actor: Actor) -> Mapping[str, str]:
        if not (actor.bounds.per_day or actor.bounds.memories):
            return {}
        return await anyio.to_thread.run_sync(self.quotas.admit, actor)

    def _toolset(self, scope: Scope, actor: Actor) -> str:
        asked = scope["path_params"].get("toolset")
        toolset = toolset_of(actor, asked, with_key="authorization" in Headers(scope=scope))
        if toolset not in self.endpoints:
            raise DolmenError(
                "not-found",
                f"There is no toolset {toolset[:50]!r} here.",
                f"Use /mcp, or /mcp/ and one of: {', '.join(self.endpoints)}.",
            )
        return toolset


def _no_sessions() -> Refusal:
    return Refusal(
        "invalid-argument",
        "There are no sessions here, so nothing to listen to and nothing to end.",
        "POST each request, with Content-Type: application/json; a 405 to GET or DELETE is what the protocol foresees.",
        status=405,
        headers={"Allow": "POST, OPTIONS"},
    )


class _Surroundings:
    """What is not MCP."""

    def __init__(self, rt: Runtime, door: Door, metrics: Metrics) -> None:
        self.rt, self.door, self._metrics = rt, door, metrics

    async def health(self, request: Request) -> Response:
        """200 with the facts, 503 with the reason. A stranger learns only that it is up."""
        return await anyio.to_thread.run_sync(self._health, request)

    async def metrics(self, request: Request) -> Response:
        return await anyio.to_thread.run_sync(self._measured, request)

    def _health(self, request: Request) -> Response:
        try:
            found = facts(self.rt)
        except DolmenError as error:
            _log.warning("the store cannot be read: %s", error.message)
            return JSONResponse({"status": "unavailable", "error": error.as_dict()}, 503)
        known = self._known(request)
        return JSONResponse({"status": "ok", **(found if known else {})})

    def _measured(self, request: Request) -> Response:
        if not self._known(request):
            return refusal(unauthorized("Metrics need an API key here."))
        if not self.door.oversees(request.headers, request.scope):
            return refusal(_not_yours())
        return Response(self._metrics.text(), media_type=CONTENT_TYPE)

    async def nothing(self, request: Request) -> Response:
        refused = refusal(_nothing_here(), request.url.path)
        return _shown(request, refused, self.door.options)

    def _known(self, request: Request) -> bool:
        return self.door.knows(request.headers, client=self.door.address(request.scope))


def _not_yours() -> DolmenError:
    return DolmenError(
        "forbidden",
        "Metrics tell of the whole store.",
        "Ask from the server's machine, or with a key in mode `admin` (`dolmen key create prometheus --mode admin`).",
    )


def _shown(request: Request, refused: Response, options: HttpOptions, *, tools: bool = False) -> Response:
    """A refusal, as a page to somebody who opened the address in a browser."""
    asked = request.headers.get("accept", "")
    if "text/html" not in asked.lower() or request.url.path.startswith(("/api/", "/.well-known/")):
        return refused
    from dolmen.interfaces.http.web import stray  # what draws pages is not loaded for programs

    if not stray.reads_pages(request):
        return refused
    return stray.instead(request, refused, base=options.base, tools=tools)


async def _style(request: Request) -> Response:
    from dolmen.interfaces.http.web.pages import style

    return await style(request)


def _nothing_here() -> DolmenError:
    return DolmenError(
        "not-found",
        "There is nothing here.",
        "MCP is at /mcp, plain HTTP at /quick, pages for people at / once DOLMEN_PUBLIC_URL is set; see also /health.",
    )
