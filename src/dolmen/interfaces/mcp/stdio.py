"""The protocol over standard input and output, for a client that starts the server itself.

Standard output carries JSON-RPC and nothing else: while the server runs, file descriptor 1 leads to standard error, so
a stray print or a library's progress bar cannot break the client (B096). The bytes are UTF-8 in any locale (B038).
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.to_thread

from dolmen.domain.identity import ProjectIdentity
from dolmen.domain.values import Actor, Toolset
from dolmen.interfaces.mcp import sdk
from dolmen.interfaces.mcp.registry import Face, face
from dolmen.interfaces.mcp.server import Context, Resolve, build
from dolmen.interfaces.mcp.understanding import told
from dolmen.interfaces.mcp.wire import without_half_pairs
from dolmen.services.runtime import Runtime

AT_ONCE = 8
"""Calls of one client that are worked on at the same time."""
LAST_ANSWERS_WITHIN = 30.0
"""Seconds that requests in flight have when the client has closed its side."""


def run(
    rt: Runtime,
    actor: Actor,
    toolset: Toolset = "core",
    *,
    project: Callable[[], ProjectIdentity] | None = None,
    greeted: Callable[[], None] = lambda: None,
    ended: Callable[[], None] = lambda: None,
) -> None:
    """Serves one client until it closes the stream or a signal ends the process.

    An actor whose agent is `unknown` acts under the name that the client gives itself. `project` is asked for the
    default project at each call, so that naming it anew counts at once (B134). Once the handshake is over, the
    model starts to load (B202) and `greeted` runs; `ended` runs before a signal ends the process.
    """

    def settled() -> None:
        if rt.embedder is not None:
            rt.embedder.warm()
        greeted()

    def resolve(_: Context) -> Actor:
        if project is None:
            return actor
        here = project()
        return replace(actor, project=here.project, parents=here.parents)

    anyio.run(_serve, rt, resolve, face(toolset), settled, ended)


async def _serve(
    rt: Runtime, resolve: Resolve, face: Face, greeted: Callable[[], None], ended: Callable[[], None]
) -> None:
    from mcp.server.stdio import stdio_server

    server = build(rt, face, resolve, limiter=anyio.CapacityLimiter(AT_ONCE), greeted=_once(greeted))
    async with anyio.create_task_group() as tasks:
        if sys.platform != "win32":
            tasks.start_soon(_end_on_signal, ended)
        async with stdio_server() as (incoming, outgoing):
            waiting = _Waiting(outgoing)
            await server.run(
                _Answering(incoming, waiting),
                waiting,
                server.create_initialization_options(),
            )
        tasks.cancel_scope.cancel()


def _once(action: Callable[[], None]) -> Callable[[], None]:
    done = False

    def first() -> None:
        nonlocal done
        if not done:
            done = True
            action()

    return first


async def _end_on_signal(ended: Callable[[], None]) -> None:
    """Ends the process at once: the thread that waits for the client's next line cannot be interrupted."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            await anyio.to_thread.run_sync(ended)
            os._exit(0)


class _Waiting:
    """The way out, which knows the requests that are not answered yet."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._asked: set[object] = set()
        self._answered = anyio.Event()

    def asked(self, message: Any) -> None:
        """A message came in: a request waits for its answer, unless the client takes it back."""
        method, id = getattr(message, "method", None), getattr(message, "id", None)
        if method is not None and id is not None:
            self._asked.add(id)
        elif method == "notifications/cancelled":
            self._done((getattr(message, "params", None) or {}).get("requestId"))

    async def all_answered(self) -> None:
        """Waits for what is still worked on, for a bounded time."""
        with anyio.move_on_after(LAST_ANSWERS_WITHIN):
            while self._asked:
                await self._answered.wait()

    async def send(self, item: Any) -> None:
        await self._inner.send(item)
        message = getattr(item, "message", None)
        if getattr(message, "method", None) is None:
            self._done(getattr(message, "id", None))

    def _done(self, id: object) -> None:
        self._asked.discard(id)
        before, self._answered = self._answered, anyio.Event()
        before.set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._inner.aclose()


class _Answering:
    """The client's messages, with an answer for those that cannot be read; the SDK would drop them in silence.

    When the client has closed its side, the end is told only after its last requests are answered: the SDK would drop
    these too.
    """

    def __init__(self, inner: Any, outgoing: _Waiting) -> None:
        self._inner, self._outgoing = inner, outgoing

    @property
    def last_context(self) -> Any:
        """The context of the message that was read last."""
        return self._inner.last_context

    async def receive(self) -> Any:
        while True:
            try:
                item = await self._inner.receive()
            except anyio.EndOfStream:
                await self._outgoing.all_answered()
                raise
            message = _repaired(item) if isinstance(item, Exception) else item
            if message is not None:
                self._outgoing.asked(message.message)
                return message
            await self._outgoing.send(_complaint(item))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()


def _repaired(failure: Exception) -> sdk.SessionMessage | None:
    """The message, when half surrogate pairs were all that kept it from being read."""
    line = _line(failure)
    fixed = without_half_pairs(line)
    if fixed == line:
        return None
    try:
        return sdk.SessionMessage(sdk.jsonrpc_message_adapter.validate_json(fixed, by_name=False))
    except ValueError:
        return None


def _complaint(failure: Exception) -> sdk.SessionMessage:
    error = told(failure, "That line is no JSON. Send one JSON-RPC message per line.")
    return sdk.SessionMessage(sdk.JSONRPCError(jsonrpc="2.0", id=None, error=error))


def _line(failure: Exception) -> bytes:
    if not isinstance(failure, sdk.ValidationError):
        return b""
    line = failure.errors()[0].get("input")
    return line.encode("utf-8", "replace") if isinstance(line, str) else b""
