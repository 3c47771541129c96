"""What strangers try on the pages and calls of signing in, against a running server."""

from __future__ import annotations

import logging
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from dolmen.services import passwords, people
from tests.interfaces.conftest import Serve, within
from tests.interfaces.http.test_oauth_flow import BACK, BASE, Town, town

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cheap_passwords")]

__all__ = ["town"]


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/register", "/oauth/revoke", "/sign-in", "/sign-out"])
def test_a_form_that_does_not_come_holds_no_connection(serve: Serve, path: str) -> None:
    served = serve(public_url=BASE, body_quiet_seconds=0.2)
    there = urlsplit(served.base)
    with socket.create_connection((there.hostname or "", there.port or 0), timeout=15) as line:
        line.sendall(f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\na=".encode())
        assert line.recv(65_536).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/register", "/sign-in"])
def test_who_goes_away_in_the_middle_makes_no_failure_of_ours(
    serve: Serve, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    """A stranger could fill the log with them, and nobody would look at a real one."""
    caplog.set_level(logging.INFO)
    served = serve(public_url=BASE)
    there = urlsplit(served.base)
    with socket.create_connection((there.hostname or "", there.port or 0), timeout=15) as line:
        line.sendall(f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\na=".encode())
    assert within(5, lambda: any(path in record.getMessage() for record in caplog.records))
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_a_link_stands_in_no_log(town: Town, caplog: pytest.LogCaptureFixture) -> None:
    """Whoever reads it there could choose the owner's password."""
    caplog.set_level(logging.INFO)
    owner = town.served.owner()
    link = people.entry_link(town.served.rt, owner, owner.person)
    assert town.get(f"/enter/{link}").status_code == 200

    def ours() -> list[str]:
        return [record.getMessage() for record in caplog.records if record.name.startswith("dolmen")]

    assert within(5, lambda: any("/enter/" in line for line in ours()))
    assert not any(link in line for line in ours())


def test_a_field_cannot_write_a_line_of_the_log(town: Town, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    body = "a%0A2026-01-01T00:00:00Z+info+people:+ada+signed+in=1&" * 2
    answer = town.served.http.post(town.served.base + "/oauth/token", content=body.rstrip("&").encode())
    assert answer.json()["error"] == "invalid_request"
    assert not any("\n" in record.getMessage() for record in caplog.records)


def test_passwords_are_looked_at_a_few_at_a_time(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes 64 MiB; forty strangers at once would end the server."""
    monkeypatch.setattr(passwords, "KIB", 16_384)
    passwords._hasher.cache_clear()
    running, most, lock, real = 0, 0, threading.Lock(), passwords.fits

    def counted(password: str, kept: str | None) -> bool:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        try:
            return real(password, kept)
        finally:
            with lock:
                running -= 1

    monkeypatch.setattr(passwords, "fits", counted)
    with ThreadPoolExecutor(12) as pool:
        codes = list(
            pool.map(lambda n: town.post("/sign-in", {"login": f"n{n}", "password": "x"}).status_code, range(12))
        )
    assert codes == [401] * 12
    assert most <= 2


@pytest.mark.parametrize("token", ["é", "\ud55c", "x"])
def test_a_form_token_in_any_letters_is_just_a_wrong_one(town: Town, token: str) -> None:
    town.enter()
    request = town.request(town.register())
    assert town.post(request, {"token": token, "answer": "allow"}).status_code == 403
    assert town.post("/sign-out", {"token": token}).status_code == 303


@pytest.mark.parametrize(
    "more", [b'"jwks": {"a": "\\ud800"}', b'"jwks": {"a": NaN}', b'"jwks_uri": "\\ud800"', b'"client_name": "\\ud800"']
)
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_registration_that_no_store_could_keep_breaks_nothing(serve: Serve, engine: str, more: bytes) -> None:
    served = serve(engine, public_url=BASE)
    body = b'{"redirect_uris": ["' + BACK.encode() + b'"], ' + more + b"}"
    answer = served.http.post(served.base + "/oauth/register", content=body)
    assert answer.status_code in (201, 400), answer.text


def test_an_endless_number_of_days_is_no_number_of_days(town: Town) -> None:
    town.enter()
    answer = town.answer(town.request(town.register()), days="9" * 5_000, agent="")
    assert answer.status_code == 400
