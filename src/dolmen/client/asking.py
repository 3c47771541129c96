"""One request to a server over HTTP/1.1, on a connection of its own.

`http.client` would do it too, but loading it takes a tenth of the time that a session hook has.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Mapping
from typing import IO
from urllib.parse import SplitResult

CONNECT = 0.5
"""Seconds to reach a server; on this machine a fraction of a millisecond is enough."""
_LINE = 65_536
_HEADERS = 200
_UNSENDABLE = re.compile(r"[\x00-\x1f\x7f]")
_PORTS = {"http": 80, "https": 443}


def connected(parts: SplitResult, seconds: float) -> socket.socket:
    """A connection to the server of an address, with TLS where the address says so.

    Raises:
        OSError, ValueError: nobody is there in time, the certificate does not hold, or it is no address.
    """
    connection = socket.create_connection((parts.hostname or "", parts.port or _PORTS[parts.scheme]), seconds)
    if parts.scheme != "https":
        return connection
    import ssl

    try:
        return ssl.create_default_context().wrap_socket(connection, server_hostname=parts.hostname)
    except BaseException:
        connection.close()
        raise


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
        OSError: nobody is there, it takes too long, or the answer breaks off.
        ValueError: it is no address, it cannot be sent, or the answer is no HTTP.
    """
    end = time.monotonic() + seconds
    sent = _request(method, parts, target, headers, body)
    with connected(parts, min(CONNECT, seconds)) as connection:
        connection.settimeout(max(0.05, end - time.monotonic()))
        connection.sendall(sent)
        with connection.makefile("rb") as stream:
            return _answer(stream, most)


def _request(method: str, parts: SplitResult, target: str, headers: Mapping[str, str], body: str | None) -> bytes:
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError("no address of a server")
    host = parts.hostname if parts.hostname.isascii() else parts.hostname.encode("idna").decode()
    host = f"[{host}]" if ":" in host else host
    host = host if parts.port in (None, _PORTS[parts.scheme]) else f"{host}:{parts.port}"
    content = b"" if body is None else body.encode()
    length = {"Content-Length": str(len(content))} if body is not None else {}
    fields = {"Host": host, "Connection": "close", "Accept-Encoding": "identity", **length, **headers}
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    if " " in target or any(map(_UNSENDABLE.search, lines)):
        raise ValueError("a character that a header cannot hold")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + content


def _answer(stream: IO[bytes], most: int) -> tuple[int, bytes]:
    status, fields = _head(stream)
    while 100 <= status < 200:  # what a server says in between
        status, fields = _head(stream)
    if b"chunked" in fields.get(b"transfer-encoding", b"").lower():
        return status, _chunks(stream, most)
    if (length := fields.get(b"content-length")) is None:
        return status, stream.read(most)
    wanted = min(int(length), most)
    return status, _exactly(stream, wanted)


def _head(stream: IO[bytes]) -> tuple[int, dict[bytes, bytes]]:
    version, _, rest = _line(stream).partition(b" ")
    if not version.startswith(b"HTTP/1."):
        raise ValueError("no HTTP")
    return int(rest[:3]), _fields(stream)


def _fields(stream: IO[bytes]) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for _ in range(_HEADERS):
        line = _line(stream)
        if not line:
            return found
        name, _, value = line.partition(b":")
        found[name.strip().lower()] = value.strip()
    raise ValueError("too many headers")


def _chunks(stream: IO[bytes], most: int) -> bytes:
    body = b""
    while len(body) < most:
        size = int(_line(stream).partition(b";")[0], 16)
        if size == 0:
            break
        body += _exactly(stream, min(size, most - len(body)))
        if len(body) < most:
            _line(stream)
    return body


def _line(stream: IO[bytes]) -> bytes:
    line = stream.readline(_LINE)
    if not line.endswith(b"\n"):
        raise ConnectionError("the answer breaks off")
    return line.rstrip(b"\r\n")


def _exactly(stream: IO[bytes], size: int) -> bytes:
    if size < 0:
        raise ValueError("no length")
    found = stream.read(size)
    if len(found) < size:
        raise ConnectionError("the answer breaks off")
    return found
