"""A mirror's calls to a server: one connection, asked again when an answer is lost, patient when there is too much.

Every call is safe to send twice, so a lost answer costs nothing but time.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

from dolmen.client.endpoint import Endpoint
from dolmen.client.refs.desk import base
from dolmen.domain.errors import MEANINGS, Code, DolmenError

_CONNECT, _ANSWER = 10.0, 120.0
"""Seconds to reach the server, and to wait for an answer: a call may hold a hundred notes."""
_WHOLE = 300.0
"""Seconds until all of an answer has to be here: a server that sends it byte by byte never lets a wait for more end."""
_AGAIN = (0.0, 1.0, 2.0, 4.0)
"""Seconds before a call is sent again. At once the first time: servers end connections that were quiet."""
_LATER = (502, 503, 504)
_PATIENCE = 4 * 3600.0
"""Seconds that a call waits at most, all in all, because the server says that there is too much."""
_LEAVING = 3.0
"""Seconds for the answer that is on its way when somebody stops the mirror."""
_MOST = 64 * 1024 * 1024


class _Late(TimeoutError):
    """The answer did not end in time."""


@dataclass(slots=True)
class Wire:
    endpoint: Endpoint
    pause: Callable[[float], object] = time.sleep
    """Waits for so many seconds; says True when it is not worth waiting any longer."""
    tell: Callable[[str], object] = lambda said: None
    """Says why it goes on later."""
    whole: float = _WHOLE
    _connection: HTTPConnection | None = None
    _line: socket.socket | None = None
    """Of the request that is under way, also when its answer is the connection's last."""
    _left: bool = False

    def ask(self, path: str, body: str | None = None) -> dict[str, Any]:
        """The answer to a GET, or a POST with a JSON `body`.

        Args:
            path: behind `/api/v1`.

        Raises:
            DolmenError: `unavailable` when no answer comes; else as the server refuses.
        """
        lost, waited = 0, 0.0
        while True:
            try:
                status, after, answer = self._once(path, body)
            except (OSError, ValueError, HTTPException) as error:
                self.close()
                status, after, answer = 0, 0.0, {"why": _why(error)}
                if isinstance(error, _Late):  # it would take as long again
                    lost = len(_AGAIN)
            if status == 429 and waited < _PATIENCE:
                waited += after
                self.tell(f"the server asks to wait {after:.0f} s: {_said(answer)}")
                self._wait(after)
            elif (status == 0 or status in _LATER) and lost < len(_AGAIN):
                self._wait(max(after, _AGAIN[lost]))
                lost += 1
            elif 200 <= status < 300:
                return answer
            else:
                raise self._refusal(status, answer)

    def _wait(self, seconds: float) -> None:
        if self._left or (seconds and self.pause(seconds)):
            raise DolmenError("unavailable", "The mirror was stopped while it waited.", "Run it again: it goes on.")

    def leave(self) -> None:
        """Whoever waits for an answer wants to go: it may still come in a moment, and is not asked for again."""
        self._left = True
        if self._line is not None:
            _after(_LEAVING, self._line)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _once(self, path: str, body: str | None) -> tuple[int, float, dict[str, Any]]:
        """The status, the seconds after which to come again, and the answer."""
        parts = urlsplit(self.endpoint.url)
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if self.endpoint.agent:
            headers["Dolmen-Agent"] = self.endpoint.agent
        if bearer := self.endpoint.bearer(_CONNECT):
            headers["Authorization"] = f"Bearer {bearer}"
        connection = self._open(parts.scheme, parts.hostname or "", parts.port)
        data = None if body is None else body.encode("utf-8", "replace")
        whole = False
        with self._in_time(connection):
            with suppress(BrokenPipeError, ConnectionResetError):  # refused before all was sent: why may still be read
                connection.request("GET" if data is None else "POST", base(parts.path) + path, data, headers)
                whole = True
            response = connection.getresponse()
            text = response.read(_MOST)
        answer = _object(text, response.status)
        after = response.headers.get("Retry-After", "")
        seconds = min(float(after), _PATIENCE) if after.isdecimal() else 1.0 if response.status == 429 else 0.0
        if response.will_close or not whole:
            self.close()
        return response.status, seconds, answer

    @contextmanager
    def _in_time(self, connection: HTTPConnection) -> Iterator[None]:
        """Ends a request that takes too long as a whole, wherever it is.

        Raises:
            TimeoutError
        """
        began = time.monotonic()
        self._line = connection.sock
        clock = _after(self.whole, self._line)
        try:
            yield
        except (OSError, ValueError, HTTPException) as error:
            if time.monotonic() - began >= self.whole:
                raise _Late from error
            raise
        finally:
            self._line = None
            clock.cancel()
        if time.monotonic() - began >= self.whole:  # what breaks off may look like the end
            raise _Late

    def _open(self, scheme: str, host: str, port: int | None) -> HTTPConnection:
        if self._connection is None:
            kind = HTTPSConnection if scheme == "https" else HTTPConnection
            connection = kind(host, port, timeout=_CONNECT)
            connection.connect()
            connection.sock.settimeout(_ANSWER)
            self._connection = connection
        return self._connection

    def _refusal(self, status: int, answer: Mapping[str, Any]) -> DolmenError:
        where = self.endpoint.url
        if not status:
            return DolmenError(
                "unavailable",
                f"Dolmen does not answer at {where}: {answer['why']}.",
                "Is the address right, and does the server run? Run the mirror again later: it goes on where it was.",
            )
        error = answer.get("error")
        if status >= 500 and not isinstance(error, Mapping):
            return DolmenError(
                "unavailable",
                f"The server at {where}, or a proxy before it, failed ({status}).",
                "Look into its log. Run the mirror again later: it goes on where it was.",
            )
        if status == 413 and not isinstance(error, Mapping):
            return DolmenError(
                "too-large",
                f"What stands before the server at {where} takes less at once (413).",
                "Let the proxy take larger requests: nginx calls it client_max_body_size.",
            )
        if status == 404 or not isinstance(error, Mapping):
            return DolmenError(
                "configuration",
                f"What answers at {where} serves no mirrors ({status}).",
                "Name the address of a Dolmen server that is as new as this one: `--server https://HOST`.",
            )
        refused = refusal(error)
        if refused.code != "unauthorized":
            return refused
        fix = "Set DOLMEN_KEY to a key of that server, which `dolmen key create AGENT` makes there."
        if "dolmen login" in refused.fix:  # the server knows whether people sign in
            fix = f"Sign in: `dolmen login {where}`. Or s{fix[1:]}"
        return DolmenError(refused.code, refused.message, fix)


def refusal(error: Mapping[str, Any]) -> DolmenError:
    """What the server said, in its own words; a code that this version does not know stands for a refusal."""
    code: Code = next((known for known in MEANINGS if known == error.get("code")), "forbidden")
    return DolmenError(code, str(error.get("message")), str(error.get("fix")))


def _after(seconds: float, line: socket.socket) -> threading.Timer:
    """Ends whatever is sent or awaited on a socket, after so many seconds."""

    def end() -> None:
        with suppress(OSError, ValueError):  # it ended by itself just now
            line.shutdown(socket.SHUT_RDWR)

    clock = threading.Timer(seconds, end)
    clock.daemon = True
    clock.start()
    return clock


def _said(answer: Mapping[str, Any]) -> str:
    error = answer.get("error")
    return str(error.get("message") if isinstance(error, Mapping) else error or "too many requests").rstrip(".")


def _object(text: bytes, status: int) -> dict[str, Any]:
    """The answer. What is no JSON is a lost one where it should be the result, and nothing where it is a proxy's page.

    Raises:
        ValueError
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        if status < 300:
            raise ValueError("what came is no JSON") from error
        return {}
    return found if isinstance(found, dict) else {}


def _why(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
