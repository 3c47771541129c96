"""Running the application: one process, one socket, an orderly end."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn
from starlette.types import ASGIApp

GRACE = 3
"""Seconds that requests in flight have when the server is told to stop."""

_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGBREAK") if hasattr(signal, name)]


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
        http="auto",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE,
    )
    return _Server(config, ready)


def serve(app: ASGIApp, host: str, port: int, *, ready: Callable[[int], None] | None = None) -> None:
    """Serves until the process is told to stop; then requests in flight are answered, and it returns.

    Raises:
        SystemExit: when the address cannot be used.
    """
    server(app, host, port, ready=ready).run()
