"""Running the application: one process, one socket, an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

GRACE = 3
"""Seconds that requests in flight have when the server is told to stop."""

CONNECTIONS = 200
"""How many may be open at a time before requests are answered 503; twice as many, and new ones are closed at once."""

HEAD_SECONDS = 10
"""How long the head of a request, or the rest of one that is answered already, may take to arrive."""

KEPT_SECONDS = 5
"""How long a connection is kept between two requests."""

_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGBREAK") if hasattr(signal, name)]


class _Impatient(H11Protocol):
    """Ends connections on which nothing comes of what was begun; uvicorn ends only those that are silent after an
    answer. While a request is worked on, whoever works on it decides."""

    _end: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in its base
        super().connection_made(transport)
        if len(self.connections) > 2 * CONNECTIONS:
            transport.abort()
        else:
            self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self.transport.is_closing() or _in_work(self.cycle):
            self._stop()
        elif self._end is None:
            self._end = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop(self) -> None:
        if self._end is not None:
            self._end.cancel()
            self._end = None


def _in_work(cycle: RequestResponseCycle | None) -> bool:
    return cycle is not None and not cycle.response_complete


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[int], None] | None) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[Any] | None = None) -> None:
        await super().startup(sockets)
        if self._ready is not None and self.started and not self.should_exit:
            self._ready(self.port)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """A signal ends the server and `run` returns, so that the caller still closes what it opened.

        uvicorn raises the signal again afterwards, which would end the process before that.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @property
    def port(self) -> int:
        """The port that it listens on, also when it was asked to take a free one."""
        port: int = self.servers[0].sockets[0].getsockname()[1]
        return port


def server(app: ASGIApp, host: str, port: int, *, ready: Callable[[int], None] | None = None) -> uvicorn.Server:
    """A server that is not running yet; `ready` is told the port once it listens."""
    config = uvicorn.Config(
        app,
        host=host.strip("[]"),
        port=port,
        http=_Impatient,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=KEPT_SECONDS,
        timeout_graceful_shutdown=GRACE,
    )
    return _Server(config, ready)


def serve(app: ASGIApp, host: str, port: int, *, ready: Callable[[int], None] | None = None) -> None:
    """Serves until the process is told to stop; then requests in flight are answered, and it returns.

    Raises:
        SystemExit: when the address cannot be used.
    """
    server(app, host, port, ready=ready).run()
