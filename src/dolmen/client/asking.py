"""One request to a server, on a connection of its own."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import SplitResult

CONNECT = 0.5
"""Seconds to reach a server; on this machine a fraction of a millisecond is enough."""
_UNSENDABLE = re.compile(r"[\x00-\x20\x7f]")


def ask(
    method: str, parts: SplitResult, target: str, headers: Mapping[str, str], body: str | None, *, seconds: float,
    most: int,
) -> tuple[int, bytes]:  # fmt: skip
    """The status and the body of the answer.

    Args:
        parts: the server's address, split.
        target: what is asked for there: a path and perhaps a query.
        seconds: for connecting, sending and each wait for more.
        most: bytes of the body that are read.

    Raises:
        OSError: nobody is there, it takes too long, the certificate does not hold, or the answer breaks off.
        ValueError: it is no address, it cannot be sent, or the answer is no HTTP.
    """
    end = time.monotonic() + seconds
    if _UNSENDABLE.search(target):
        raise ValueError("a character that an address cannot hold")
    connection = _connection(parts, min(CONNECT, seconds))
    content = None if body is None else body.encode()
    try:
        connection.connect()
        connection.sock.settimeout(max(0.05, end - time.monotonic()))
        connection.request(method, target, content, {"Connection": "close", **headers})
        with connection.getresponse() as answer:
            status, length = answer.status, answer.length
            found = answer.read(most)
    except HTTPException as error:
        raise ValueError(f"no answer in HTTP: {error!r}") from error
    finally:
        connection.close()
    if length is not None and len(found) < min(length, most):
        raise ConnectionError("the answer breaks off")
    return status, found


def _connection(parts: SplitResult, seconds: float) -> HTTPConnection:
    if not parts.hostname:
        raise ValueError("no address of a server")
    if parts.scheme == "https":
        return HTTPSConnection(parts.hostname, parts.port, timeout=seconds)
    if parts.scheme == "http":
        return HTTPConnection(parts.hostname, parts.port, timeout=seconds)
    raise ValueError("no address of a server")
