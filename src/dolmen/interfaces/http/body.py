"""Reading a request's body, once it is known who sends it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

import anyio
import anyio.to_thread
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dolmen.domain.errors import DolmenError
from dolmen.domain.values import Actor
from dolmen.interfaces.http.capability import Check
from dolmen.interfaces.http.options import HttpOptions
from dolmen.interfaces.http.responses import Refusal, refusal, rpc_refusal
from dolmen.interfaces.mcp.understanding import complaint
from dolmen.interfaces.mcp.wire import without_half_pairs

INVALID_REQUEST = -32600
_HEARD_OUT = 4
"""How many times the limit is read and dropped before a refusal: most clients send everything before they read, and
would see a broken connection instead of the reason. What is larger still is hung up on."""


class Body:
    """Reads a request's body whole, within its limits, before anything works on it.

    What is no JSON-RPC message is refused here, batches too, which left the protocol in 2025-06-18: the SDK's refusal
    quotes its internals, and it takes a request whose id is none for a notification, which nobody answers.
    Half surrogate pairs, which JSON can write and no text can hold, become U+FFFD as everywhere.
    `check` stands around the work, and may refuse what was read.
    """

    def __init__(self, app: ASGIApp, options: HttpOptions, check: Check | None = None) -> None:
        self.app, self.options, self.check = app, options, check

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        try:
            body = await self.read(scope, receive)
            if body is None:
                return
            require_json(scope)
            with nullcontext() if self.check is None else self.check(scope, body):
                await self._answer(body, scope, receive, send)
        except DolmenError as error:
            await refusal(error)(scope, receive, send)

    async def _answer(self, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        if body.lstrip()[:1] == b"[":
            message = "JSON-RPC batches are not served. Send one request per POST."
            await rpc_refusal(INVALID_REQUEST, message, 400)(scope, receive, send)
            return
        body = without_half_pairs(body)
        if (wrong := complaint(body, "The body is no JSON. Send one JSON-RPC message.")) is not None:
            await rpc_refusal(wrong.code, wrong.message, 400)(scope, receive, send)
            return
        await self.app(scope, _replay(body, receive), send)

    async def read(self, scope: Scope, receive: Receive) -> bytes | None:
        """The body; None when the client went away.

        Raises:
            Refusal: `too-large`, or `invalid-argument` when it does not come in time.
        """
        limit = self.options.body_limit
        headers = Headers(scope=scope)
        length = headers.get("content-length", "")
        asks_first = headers.get("expect", "").lower() == "100-continue"
        if length.isdecimal() and int(length) > (limit if asks_first else _HEARD_OUT * limit):
            raise _too_large(limit)
        receive = patiently(receive, self.options)
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > limit:
                parts.clear()
            if size > _HEARD_OUT * limit or (size > limit and not message.get("more_body")):
                raise _too_large(limit)
            if not message.get("more_body"):
                return b"".join(parts)


def require_json(scope: Scope) -> None:
    """Refuses a body that does not say it is JSON; asked once it was read, since most clients read when all is sent.

    Raises:
        Refusal: `invalid-argument`, with 415.
    """
    if Headers(scope=scope).get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Refusal(
            "invalid-argument",
            "The request does not say that its body is JSON.",
            "Send it with `Content-Type: application/json`.",
            status=415,
        )


def patiently(receive: Receive, options: HttpOptions) -> Receive:
    """The parts of a request, which come in time from now on or are waited for no longer.

    Raises, when called:
        Refusal: `invalid-argument`.
    """
    end = anyio.current_time() + options.body_seconds

    async def part() -> Message:
        with anyio.move_on_after(min(options.body_quiet_seconds, end - anyio.current_time())):
            return await receive()
        raise Refusal(
            "invalid-argument",
            "The rest of the request did not come.",
            f"Send it whole, within {options.body_seconds:g} seconds and without a pause of "
            f"{options.body_quiet_seconds:g}.",
            status=408,
            headers={"Connection": "close"},
        )

    return part


def attended(receive: Receive, scope: Scope, again: Callable[[Scope], Actor], at_once: Callable[[], bool]) -> Receive:
    """The parts of a request, which may take long to come: with the last one its sender is looked at once more, so that
    a key which ended meanwhile, or a person who was removed, does nothing any more.

    Args:
        again: who it is; raises as `Door.actor` does. Blocking, unless `at_once`.
    """

    async def part() -> Message:
        message = await receive()
        if message["type"] == "http.request" and not message.get("more_body"):
            actor = again(scope) if at_once() else await anyio.to_thread.run_sync(again, scope)
            scope["dolmen.actor"] = actor
        return message

    return part


def _too_large(limit: int) -> Refusal:
    return Refusal(
        "too-large",
        f"The request is larger than {limit} bytes.",
        "Send less at once; the limit is the setting DOLMEN_BODY_LIMIT.",
        headers={"Connection": "close"},
    )


def _replay(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def replayed() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed
