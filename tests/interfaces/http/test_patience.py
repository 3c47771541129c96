"""How long a client may keep the server waiting, and what it costs the server meanwhile; spoken in raw bytes."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from dolmen.interfaces.http import server
from dolmen.services import accounts
from tests.interfaces.conftest import JSON, Serve, Served, rpc, within

pytestmark = pytest.mark.slow

LIST = rpc("tools/list")
HEAD = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json\r\n"
Connect = Callable[[Served], socket.socket]


@pytest.fixture
def connect() -> Iterator[Connect]:
    with ExitStack() as stack:

        def connected(served: Served) -> socket.socket:
            host, port = served.base.removeprefix("http://").split(":")
            return stack.enter_context(socket.create_connection((host, int(port)), timeout=20))

        yield connected


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/mcp", rpc("tools/call", name="remember", arguments={"content": "A thief writes this."})),
        ("/mcp/kmem", rpc("tools/call", name="remember", arguments={"content": "# T\n\nA thief writes this."})),
        ("/api/tokens", {"label": "thief", "scope": "read"}),
        ("/quick/propose", {"content": "A thief writes this.", "kind": "decision"}),
    ],
)
def test_a_key_that_ends_while_its_request_is_on_the_way_does_nothing_any_more(
    serve: Serve, connect: Connect, path: str, body: dict[str, object]
) -> None:
    """C-295: the key is looked at before the body, which may take half a minute to come."""
    served = serve(auth="keys")
    secret, sent = served.key(mode="admin"), json.dumps(body).encode()
    line = connect(served)
    head = HEAD.replace("/mcp", path, 1) + f"Authorization: Bearer {secret}\r\nExpect: 100-continue\r\n"
    line.sendall(f"{head}Connection: close\r\nContent-Length: {len(sent)}\r\n\r\n".encode())
    assert b" 100 " in answered(line, b"\r\n\r\n"), "it was let in, and is waited for"
    [connection] = accounts.keys(served.rt, served.owner())
    accounts.revoke(served.rt, served.owner(), connection.id)
    line.sendall(sent)
    assert answered(line).startswith(b"HTTP/1.1 401 ")
    with served.rt.store.read() as tx:
        assert tx.memories.written_by(connection.vault, connection.id) == 0
        assert [each.id for each in tx.accounts.connections(connection.vault)] == [connection.id]


def answered(line: socket.socket, until: bytes = b"") -> bytes:
    """What comes until the server closes the connection, or until it has said so much."""
    parts = b""
    while not until or until not in parts:
        try:
            part = line.recv(65536)
        except ConnectionResetError:
            part = b""
        if not part:
            return parts
        parts += part
    return parts


def bearer(served: Served) -> str:
    return f"Authorization: Bearer {served.key()}\r\n"


# ----------------------------------------------------------------------------------------------------------------- body
def test_a_stranger_is_refused_before_the_body_is_read(serve: Serve, connect: Connect) -> None:
    served = serve(auth="keys")
    line = connect(served)
    line.sendall(f"{HEAD}Content-Length: 3900000\r\n\r\n".encode() + b"x" * 1000)
    assert answered(line, b'"fix"').startswith(b"HTTP/1.1 401 ")


def test_a_stranger_that_would_ask_first_is_not_told_to_go_on(serve: Serve, connect: Connect) -> None:
    served = serve(auth="keys")
    line = connect(served)
    line.sendall(f"{HEAD}Expect: 100-continue\r\nContent-Length: 3900000\r\n\r\n".encode())
    assert answered(line, b'"fix"').startswith(b"HTTP/1.1 401 ")


def test_who_asks_too_often_is_refused_before_the_body_is_read(serve: Serve, connect: Connect) -> None:
    served = serve(auth="keys", rate_limit=1)
    key = bearer(served)
    served.post(LIST, authorization=key.removeprefix("Authorization: ").strip())
    line = connect(served)
    line.sendall(f"{HEAD}{key}Content-Length: 3900000\r\n\r\n".encode() + b"x" * 1000)
    assert answered(line, b'"fix"').startswith(b"HTTP/1.1 429 ")


@pytest.mark.parametrize("limits", [{"body_quiet_seconds": 0.2}, {"body_seconds": 0.2}])
def test_a_body_that_does_not_come_is_answered_408_and_the_connection_closed(
    serve: Serve, connect: Connect, limits: dict[str, float]
) -> None:
    served = serve(auth="keys", **limits)
    line = connect(served)
    line.sendall(f"{HEAD}{bearer(served)}Content-Length: 1000\r\n\r\n".encode() + b"{")
    answer = answered(line)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in answer
    assert b'"fix":"Send it whole' in answer
    assert served.post(LIST, authorization=f"Bearer {served.key()}").status_code == 200


def test_what_is_refused_may_be_sent_to_its_end_but_not_for_ever(
    serve: Serve, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closing at once would lose the answer of a client that still sends."""
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.3)
    served = serve(auth="keys")
    line = connect(served)
    line.sendall(f"{HEAD}Content-Length: 2000000\r\n\r\n".encode() + b"x" * 2_000_000)
    assert answered(line, b'"fix"').startswith(b"HTTP/1.1 401 ")
    line.sendall(f"{HEAD}Content-Length: 1000\r\n\r\n".encode())
    assert answered(line).startswith(b"HTTP/1.1 401 "), "the connection was kept, and ends though more was announced"


# ----------------------------------------------------------------------------------------------------------------- head
@pytest.mark.parametrize("begun", [b"", b"POST /mcp HTTP/1.1\r\nHost: 127"])
def test_a_head_that_does_not_come_ends_the_connection(
    serve: Serve, connect: Connect, monkeypatch: pytest.MonkeyPatch, begun: bytes
) -> None:
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.2)
    line = connect(serve())
    line.sendall(begun)
    assert answered(line) == b""


def test_the_head_of_a_second_request_has_no_more_time(
    serve: Serve, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.3)
    line = connect(serve())
    line.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /hea")
    assert answered(line).count(b"HTTP/1.1 ") == 1


def test_beyond_its_connections_the_server_refuses_and_then_closes(
    serve: Serve, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "CONNECTIONS", 3)
    served = serve()
    lines = [connect(served) for _ in range(6)]
    lines[2].sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert answered(lines[2]).startswith(b"HTTP/1.1 503 ")
    lines += [connect(served), connect(served)]
    assert answered(lines[-1]) == b""
    for line in lines:
        line.close()
    assert within(10, lambda: served.http.get(served.base + "/health").status_code == 200)


# ------------------------------------------------------------------------------------------------------ failed attempts
def test_many_wrong_keys_from_one_address_are_told_to_wait_and_a_good_one_never(serve: Serve) -> None:
    served = serve(auth="keys", failures=3)
    good = f"Bearer {served.key()}"
    wrong = "Bearer dlm_" + "x" * 43
    answers = [served.post(LIST, authorization=wrong) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [401, 401, 401, 429]
    assert 0 < int(answers[3].headers["retry-after"]) <= 60
    assert answers[3].json()["error"]["code"] == "rate-limited"
    assert served.post(LIST).status_code == 429
    assert served.http.get(served.base + "/metrics", headers={"authorization": wrong}).status_code == 401
    assert served.post(LIST, authorization=good).status_code == 200


def test_who_only_looks_whether_the_server_is_up_fails_nothing(serve: Serve) -> None:
    served = serve(auth="keys", failures=1)
    for _ in range(5):
        assert served.http.get(served.base + "/health").json() == {"status": "ok"}
    assert served.post(LIST).status_code == 401


# -------------------------------------------------------------------------------------------------------------- framing
def test_two_lengths_are_refused_and_the_connection_closed(served: Served, connect: Connect) -> None:
    """What follows might be a request of somebody else, put there through a proxy."""
    line = connect(served)
    smuggled = b"0\r\n\r\nGET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    line.sendall(f"{HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n".encode() + smuggled)
    answer = answered(line)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize(
    ("target", "host", "status"),
    [
        ("http://127.0.0.1:7077/mcp", "127.0.0.1", 200),
        ("HTTP://localhost/mcp?project=acme/heron", "", 200),
        ("http://127.0.0.1", "127.0.0.1", 404),
        ("http://evil.example/mcp", "127.0.0.1", 403),
        ("ftp://127.0.0.1/mcp", "127.0.0.1", 400),
        ("*", "127.0.0.1", 400),
    ],
)
def test_the_request_line_may_name_the_whole_address(
    served: Served, connect: Connect, target: str, host: str, status: int
) -> None:
    """Its host counts, not that of the header."""
    line = connect(served)
    body = json.dumps(LIST)
    headers = "".join(f"{name}: {value}\r\n" for name, value in JSON.items())
    line.sendall(
        f"POST {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}"
        f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
    )
    assert answered(line).startswith(f"HTTP/1.1 {status} ".encode())


@pytest.mark.parametrize("kind", ["APPLICATION/JSON", "Application/Json; Charset=UTF-8"])
def test_a_media_type_is_the_same_in_capitals(served: Served, kind: str) -> None:
    answer = served.post(LIST, **{"content-type": kind, "accept": "Application/JSON, Text/Event-Stream"})
    assert answer.status_code == 200
