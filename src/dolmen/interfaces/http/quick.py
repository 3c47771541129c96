"""Quick Connect over HTTP: one Markdown page, recall, read and propose, behind the door of /mcp (C-332).

Each call is a call of kmem's tools: the same permission, policy, limits, answers and audit as over MCP. What is
proposed waits for a person whatever the connection may do: the requests were built by hand from a page.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, get_args
from urllib.parse import parse_qsl

import anyio.to_thread
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from dolmen.domain.errors import Code, DolmenError
from dolmen.domain.operations import admit
from dolmen.domain.values import Actor
from dolmen.interfaces import quick
from dolmen.interfaces.http.body import Body, attended, require_json
from dolmen.interfaces.http.capability import insufficient
from dolmen.interfaces.http.door import KMEM, Door, toolset_of
from dolmen.interfaces.http.limits import Limits
from dolmen.interfaces.http.quotas import Quotas, standing
from dolmen.interfaces.http.responses import STATUS, Refusal, refusal, with_headers
from dolmen.interfaces.mcp import clock
from dolmen.interfaces.mcp.dispatch import Watch, call
from dolmen.interfaces.mcp.registry import face
from dolmen.interfaces.mcp.wire import without_half_pairs
from dolmen.store.contract import AuditEntry
from dolmen.store.ids import rising

_FACE = face("kmem")
_RESOURCE = KMEM
"""The resource that a token of a hosted client must be for: these are its tools in other clothes."""
_new_id = rising(clock.now)

Answer = Callable[[Actor, Scope, Mapping[str, Any]], Response]
"""Blocking, in a thread of its own."""


def routes(door: Door, limits: Limits, quotas: Quotas, watch: Watch) -> list[Route]:
    """The page and its three calls."""
    desk = _Desk(door, watch)

    def at(path: str, method: str, answer: Answer, costly: bool = True) -> list[Route]:
        place = _Place(door, limits, quotas, method, answer, costly=costly)
        return [Route(quick.PATH + path + slash, place) for slash in ("", "/")]

    return [
        *at("", "GET", desk.page, costly=False),
        *at("/recall", "GET", desk.recall),
        *at("/read", "GET", desk.read, costly=False),
        *at("/propose", "POST", desk.propose),
    ]


class _Place:
    """An ASGI application for one path: door, limits, what was sent, answer."""

    def __init__(
        self, door: Door, limits: Limits, quotas: Quotas, method: str, answer: Answer, *, costly: bool
    ) -> None:
        self._door, self._limits, self._quotas = door, limits, quotas
        self._method, self._answer, self._costly = method, answer, costly

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        quota: Mapping[str, str] = {}
        try:
            if scope["method"] not in (self._method, "HEAD" if self._method == "GET" else self._method):
                raise _other_method(scope["method"], self._method)
            actor = await anyio.to_thread.run_sync(self._actor, scope)
            scope["dolmen.actor"] = actor
            admit(actor, f"{self._method} {scope['path'].rstrip('/')}")
            with ExitStack() as stack:
                stand, now = standing(actor, _FACE, self._door.options), time.monotonic()
                stack.enter_context(self._limits.request(actor.connection, now, stand.request))
                if self._costly and stand.call is not None:
                    stack.enter_context(self._limits.request(f"{actor.connection} kmem", now, stand.call))
                quota = await anyio.to_thread.run_sync(self._quotas.admit, actor)
                receive = attended(receive, scope, self._actor, lambda: self._door.at_once(Headers(scope=scope)))
                sent = await self._sent(scope, receive)
                response = await anyio.to_thread.run_sync(self._answer, scope["dolmen.actor"], scope, sent)
        except DolmenError as error:
            if error.code == "internal":
                raise
            response = refusal(error)
        await response(scope, receive, with_headers(send, quota))

    def _actor(self, scope: Scope) -> Actor:
        headers = Headers(scope=scope)
        actor = self._door.actor(headers, client=self._door.address(scope), path=_RESOURCE)
        toolset_of(actor, "kmem", with_key="authorization" in headers)
        return actor

    async def _sent(self, scope: Scope, receive: Receive) -> Mapping[str, Any]:
        if self._method == "GET":
            return _query(scope)
        body = await Body(_nothing, self._door.options).read(scope, receive)
        require_json(scope)
        try:
            sent = json.loads(without_half_pairs(body or b""))
        except (ValueError, RecursionError) as error:
            raise DolmenError("invalid-argument", "The body is no JSON.", "Send one JSON object, in UTF-8.") from error
        if not isinstance(sent, dict):
            raise DolmenError(
                "invalid-argument", "The body is no object.", 'Send {"content": "…", "kind": "decision"}.'
            )
        return sent


class _Desk:
    """What the four addresses answer."""

    def __init__(self, door: Door, watch: Watch) -> None:
        self._door, self._watch = door, watch

    def page(self, actor: Actor, scope: Scope, sent: Mapping[str, Any]) -> Response:
        _only(sent)
        options, rt = self._door.options, self._door.rt
        address = options.public_url.strip() or str(Request(scope).base_url)
        text = quick.page(rt, actor, address)
        who = (actor.vault, clock.now(), actor.connection, actor.agent)
        rt.journal.audit(AuditEntry(_new_id(), *who, "quick:page", origin=actor.origin))
        return PlainTextResponse(text, media_type="text/markdown")

    def recall(self, actor: Actor, scope: Scope, sent: Mapping[str, Any]) -> Response:
        return self._call(actor, "recall", sent)

    def read(self, actor: Actor, scope: Scope, sent: Mapping[str, Any]) -> Response:
        return self._call(actor, "read", sent)

    def propose(self, actor: Actor, scope: Scope, sent: Mapping[str, Any]) -> Response:
        if actor.mode == "read":
            raise insufficient(self._door.options.base, _RESOURCE)
        changes = "op" in sent or "ref" in sent
        return self._call(replace(actor, mode="suggest"), "edit" if changes else "remember", sent)

    def _call(self, actor: Actor, tool: str, sent: Mapping[str, Any]) -> Response:
        answer = call(self._door.rt, actor, _FACE, tool, sent, self._watch)
        assert answer is not None
        status = 200 if not answer.failed else _STATUS.get(answer.outcome, 400)
        return JSONResponse(dict(answer.value), status)


_STATUS: Mapping[str, int] = {code: STATUS[code] for code in get_args(Code)}


def _query(scope: Scope) -> dict[str, str]:
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    query = dict(pairs)
    if len(query) != len(pairs):
        raise DolmenError("invalid-argument", "A parameter is there twice.", "Send each once.")
    return query


def _only(sent: Mapping[str, Any], *names: str) -> None:
    if unknown := sorted(set(sent) - set(names)):
        raise DolmenError("invalid-argument", f"Unknown parameter {unknown[0][:40]!r}.", "Leave it out.")


_USE: Mapping[str, str] = {
    "GET": "Use GET, with what you ask as parameters of the address.",
    "POST": 'POST one JSON object with Content-Type: application/json, such as {"content": "…", "kind": "decision"}.',
}


def _other_method(method: str, served: str) -> Refusal:
    return Refusal(
        "invalid-argument",
        f"{method[:20]} is not served here.",
        f"{_USE[served]} GET {quick.PATH} is the page that says how.",
        status=405,
        headers={"Allow": served},
    )


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    """Behind a body that is only read."""
