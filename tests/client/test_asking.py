"""The one request that hooks send, against servers that answer in every way that HTTP/1.1 allows, and in wrong ones."""

from __future__ import annotations

import datetime
import ipaddress
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from dolmen.client.asking import ask

Answer = Callable[[bytes], tuple[str, list[bytes]]]


@pytest.fixture
def answering() -> Iterator[Answer]:
    """Gives the address of a server that says these bytes to the next request, and the list that the request is in."""
    servers: list[socket.socket] = []

    def begin(said: bytes) -> tuple[str, list[bytes]]:
        server = socket.create_server(("127.0.0.1", 0))
        servers.append(server)
        heard: list[bytes] = []

        def serve() -> None:
            with suppress(OSError):  # nobody came before the test was over
                connection, _ = server.accept()
                with connection:
                    heard.append(_request(connection))
                    connection.sendall(said)

        threading.Thread(target=serve, daemon=True).start()
        return f"http://127.0.0.1:{server.getsockname()[1]}/mcp", heard

    yield begin
    for server in servers:
        server.close()


def _request(connection: socket.socket) -> bytes:
    """A request with all of its body, which may come in a piece of its own."""
    with connection.makefile("rb") as stream:
        head = b""
        while (line := stream.readline()) not in (b"", b"\r\n"):
            head += line
        length = re.search(rb"Content-Length: (\d+)", head)
        return head and head + b"\r\n" + (stream.read(int(length[1])) if length else b"")


def get(url: str, *, most: int = 1000, **headers: str) -> tuple[int, bytes]:
    return ask("GET", urlsplit(url), "/mcp?a=1", headers, None, seconds=2, most=most)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}and more", (200, b"{}")),
        (b"HTTP/1.1 200 OK\r\ncontent-length:2\r\n\r\n{}", (200, b"{}")),
        (b"HTTP/1.0 200 OK\r\n\r\n{}", (200, b"{}")),
        (b"HTTP/1.1 503\r\n\r\n", (503, b"")),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", (200, b"{}")),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n1;x=y\r\n{\r\n1\r\n}\r\n0\r\n\r\n", (200, b"{}")),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + b"x" * 5000, (200, b"x" * 1000)),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n800\r\n" + b"x" * 2048, (200, b"x" * 1000)),
    ],
)
def test_every_form_of_an_answer_is_read(said: bytes, found: tuple[int, bytes], answering: Answer) -> None:
    assert get(answering(said)[0]) == found


@pytest.mark.parametrize(
    "said",
    [
        b"", b"SSH-2.0-x\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n{}",
        b"HTTP/1.1 2x0\r\n\r\n", b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 300 + b"\r\n", b"x" * 100_000,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{}",
    ],
)  # fmt: skip
def test_what_is_no_answer_is_an_error_that_callers_know(said: bytes, answering: Answer) -> None:
    with pytest.raises((OSError, ValueError)):
        get(answering(said)[0])


def test_the_request_is_one_that_every_server_and_proxy_understands(answering: Answer) -> None:
    url, heard = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    assert ask("POST", urlsplit(url), "/mcp", {"Accept": "x"}, '{"a": "ä"}', seconds=2, most=9) == (200, b"")
    head, _, body = heard[0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[:2] == ["POST /mcp HTTP/1.1", f"Host: {urlsplit(url).netloc}"]
    assert {"Connection: close", "Content-Length: 11", "Accept: x"} <= set(lines)
    assert body == '{"a": "ä"}'.encode()


@pytest.mark.parametrize(("target", "value"), [("/mcp", "a\r\nX: y"), ("/a b", ""), ("/a\nb", ""), ("/mcp", "Ω")])
def test_what_cannot_stand_in_a_request_is_not_sent(target: str, value: str, answering: Answer) -> None:
    url, heard = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    with pytest.raises(ValueError, match=r"."):
        ask("GET", urlsplit(url), target, {"Dolmen-Agent": value}, None, seconds=1, most=1)
    assert not any(heard)


@pytest.mark.parametrize("url", ["ftp://h/", "http:///mcp", "http://h:x/"])
def test_what_is_no_address_is_an_error_that_callers_know(url: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        ask("GET", urlsplit(url), "/", {}, None, seconds=1, most=1)


def certificate(folder: Path) -> Path:
    """A certificate of this machine's address, with its key."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + datetime.timedelta(days=1))
    signed = made.add_extension(address, critical=True).sign(key, hashes.SHA256())
    plain = serialization.NoEncryption()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    file = folder / "certificate.pem"
    file.write_bytes(signed.public_bytes(serialization.Encoding.PEM) + pem)
    return file


@pytest.mark.parametrize("known", [True, False])
def test_a_server_behind_tls_is_asked_only_where_its_certificate_holds(
    known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = certificate(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(file)
    heard: list[bytes] = []

    def serve(server: socket.socket) -> None:
        try:
            with context.wrap_socket(server.accept()[0], server_side=True) as connection:
                heard.append(connection.recv(65_536))
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        except OSError:
            pass  # it was not trusted

    if known:
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, args=(server,))
        thread.start()
        url = f"https://127.0.0.1:{server.getsockname()[1]}/mcp"
        if known:
            assert get(url) == (200, b"{}")
        else:
            with pytest.raises(ssl.SSLCertVerificationError):
                get(url)
        thread.join()
    assert len(heard) == known
