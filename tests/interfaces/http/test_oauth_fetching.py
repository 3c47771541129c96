"""Fetching a client's document, from a real TLS server, and not from where it must not."""

from __future__ import annotations

import datetime
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import cast

import anyio
import anyio.to_thread
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from dolmen.domain.oauth import OAuthError
from dolmen.interfaces.http.oauth import fetching
from dolmen.interfaces.http.oauth.fetching import BYTES, LOOKUPS, Fetcher
from dolmen.interfaces.http.oauth.known import KnownClients
from dolmen.services.runtime import Runtime

pytestmark = pytest.mark.anyio

HOST = "client.example"
DOCUMENT = f"https://{HOST}/client.json"
GOOD = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{"client_name": "A"}'


class Authority:
    """A certificate for the host, and the contexts that serve and trust it."""

    def __init__(self, folder: Path) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
        now = datetime.datetime.now(datetime.UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(1)
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256())
        )
        pem = certificate.public_bytes(serialization.Encoding.PEM)
        secret = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        both = folder / "server.pem"
        both.write_bytes(secret + pem)
        self.server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.server.load_cert_chain(both)
        self.trusting = ssl.create_default_context(cadata=pem.decode())


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


@contextmanager
def serving(authority: Authority, answer: bytes, *, held: bool = False) -> Iterator[tuple[int, list[bytes]]]:
    """A server that answers one request with these bytes; held open after them when asked. Yields its port and what
    it was sent."""
    listener = socket.create_server(("127.0.0.1", 0))
    heard: list[bytes] = []
    over = threading.Event()

    def serve() -> None:
        plain, _ = listener.accept()
        try:
            plain.settimeout(5)
            with authority.server.wrap_socket(plain, server_side=True) as connection:
                heard.append(connection.recv(4096))
                connection.sendall(answer)
                if held:
                    over.wait(30)
        except OSError:
            return

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1], heard
    finally:
        over.set()
        socket.create_connection(listener.getsockname()).close()  # wakes one who still waits for a connection
        thread.join()
        listener.close()


def fetcher(authority: Authority, port: int, *, local: bool = True) -> Fetcher:
    """One whose names all lead to this machine; `local`: and that may go there."""
    if local:
        return Fetcher(lambda host, port: ["127.0.0.1"], lambda address: True, authority.trusting, port)
    return Fetcher(lambda host, port: ["127.0.0.1"], tls=authority.trusting, port=port)


async def test_a_document_is_read_from_the_host_that_it_names(authority: Authority) -> None:
    with serving(authority, GOOD) as (port, heard):
        assert await fetcher(authority, port).json(DOCUMENT) == {"client_name": "A"}
    assert heard[0].startswith(b"GET /client.json HTTP/1.1\r\nHost: client.example")


async def test_a_name_that_leads_into_this_network_is_not_followed(authority: Authority) -> None:
    with serving(authority, GOOD) as (port, heard), pytest.raises(OAuthError) as refused:
        await fetcher(authority, port, local=False).json(DOCUMENT)
    assert refused.value.code == "invalid_client"
    assert heard == []


async def test_one_private_address_among_public_ones_is_enough_to_refuse() -> None:
    with pytest.raises(OAuthError, match="could not be fetched"):
        await Fetcher(lambda host, port: ["1.1.1.1", "10.0.0.1"]).json(DOCUMENT)


async def test_a_private_address_and_an_absent_one_are_refused_alike(authority: Authority) -> None:
    def absent(host: str, port: int) -> list[str]:
        raise socket.gaierror

    reasons = []
    for each in (Fetcher(absent), Fetcher(lambda host, port: ["10.0.0.1"])):
        with pytest.raises(OAuthError) as refused:
            await each.json(DOCUMENT)
        reasons.append(str(refused.value))
    assert len(set(reasons)) == 1


async def test_another_hosts_certificate_is_refused(authority: Authority) -> None:
    with serving(authority, GOOD) as (port, heard), pytest.raises(OAuthError):
        await fetcher(authority, port).json("https://other.example/client.json")
    assert heard == []


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 302 Found\r\nLocation: https://client.example/other\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n[1]",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nnot json",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\xff\xfe",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{" + b" " * BYTES + b"}",
        b"no http at all\r\n\r\n",
        b"",
    ],
    ids=["redirect", "absent", "list", "text", "bytes", "long", "other", "nothing"],
)
async def test_anything_but_a_small_object_is_refused(authority: Authority, answer: bytes) -> None:
    with serving(authority, answer) as (port, _), pytest.raises(OAuthError) as refused:
        await fetcher(authority, port).json(DOCUMENT)
    assert refused.value.code == "invalid_client"


@pytest.mark.parametrize(
    ("kind", "taken"),
    [
        ("application/json", True),
        ("Application/JSON; charset=utf-8", True),
        ("application/client-metadata+json", True),
        ("text/plain", False),
        ("text/html", False),
        ("text/json", False),
        ("application/octet-stream", False),
        ("application/jsonp", False),
        ("", False),
    ],
)
async def test_a_document_of_a_client_is_served_as_json(authority: Authority, kind: str, taken: bool) -> None:
    """Client ID Metadata Document, §4: any other content type is an error. What is there under another type may be a
    file that anybody uploaded, and would speak for the host that has it."""
    answer = GOOD.replace(b"application/json", kind.encode()) if kind else GOOD.replace(b"Content-Type", b"X-Type")
    with serving(authority, answer) as (port, _):
        try:
            found = await fetcher(authority, port).json(DOCUMENT, typed=True)
        except OAuthError as error:
            found = {"refused": error.code}
    assert found == ({"client_name": "A"} if taken else {"refused": "invalid_client"})


async def test_a_file_that_anybody_may_have_put_there_names_no_client(authority: Authority) -> None:
    answer = GOOD.replace(b"application/json", b"text/plain").replace(
        b'"client_name": "A"', f'"client_id": "{DOCUMENT}", "redirect_uris": ["https://evil.example/cb"]'.encode()
    )
    with serving(authority, answer) as (port, heard), pytest.raises(OAuthError) as refused:
        await KnownClients(cast(Runtime, None), fetcher(authority, port)).get(DOCUMENT)
    assert (refused.value.code, len(heard)) == ("invalid_client", 1)


async def test_a_server_that_keeps_silent_is_left_in_time(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "SECONDS", 0.3)
    begun = b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{"
    with serving(authority, begun, held=True) as (port, _), pytest.raises(OAuthError):
        await fetcher(authority, port).json(DOCUMENT)


async def test_names_that_are_slow_to_look_up_hold_nothing_else_up() -> None:
    asked, over = 0, threading.Event()

    def slow(host: str, port: int) -> list[str]:
        nonlocal asked
        asked += 1
        over.wait(20)
        return []

    one = Fetcher(slow)

    async def fetch() -> None:
        with suppress(OAuthError):
            await one.json(DOCUMENT)

    async with anyio.create_task_group() as group:
        for _ in range(60):
            group.start_soon(fetch)
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(3):
            assert await anyio.to_thread.run_sync(lambda: "served") == "served"
        assert asked == LOOKUPS
        over.set()


@pytest.mark.parametrize(
    "url",
    [
        "http://client.example/c",
        "https://client.example",
        "https://client.example/",
        "https://client.example:8443/c",
        "https://client.example/a/../c",
        "https://client.example/./c",
        "https://client.example/a/%2e%2E/c",
        "https://client.example/a%2f..%2fc",
        "https://user@client.example/c",
        "https://client.example/c#x",
        "https://client.example\\@evil.example/c",
        "https://client.example/c d",
        "https://bücher.example/c",
        "https://client.example:x/c",
        "https://client.example/" + "c" * 2_000,
        "ftp://client.example/c",
        "",
    ],
)
async def test_only_a_plain_https_address_names_a_client(url: str) -> None:
    def never(host: str, port: int) -> list[str]:
        raise AssertionError("asked for a name")

    with pytest.raises(OAuthError) as refused:
        await Fetcher(never).json(url)
    assert refused.value.code == "invalid_client"


@pytest.mark.parametrize("body", [b"[" * 60_000, b'{"a": ' * 10_000, b'{"a": NaN}', b'"\xff"', b"[]", b"{"])
async def test_what_is_no_object_that_a_store_can_keep_is_no_document(body: bytes) -> None:
    assert fetching.json_object(body) is None


async def test_half_a_character_is_none() -> None:
    assert fetching.json_object(b'{"a": "\\ud800"}') == {"a": "\ufffd"}
