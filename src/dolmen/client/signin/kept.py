"""The tokens of this user's sign-ins: one file that nobody else can read, renewed by one process at a time.

A renewed token replaces the one before; whoever comes with an old one is taken for a thief, and the sign-in ends. So
processes take a lock around reading, renewing and writing, and whoever waited finds it done.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dolmen.client import endpoint
from dolmen.client.signin import wire
from dolmen.domain.errors import DolmenError

EARLY = 60.0
"""Seconds before its end in which an access token is renewed."""
_LONGEST = 10 * 366 * 24 * 3600
"""Seconds that a token can hold."""


@dataclass(frozen=True, slots=True)
class SignIn:
    """One server that this user is signed in to."""

    url: str
    """Of its MCP endpoint, without a toolset."""
    resource: str
    client: str
    token_endpoint: str
    revocation_endpoint: str
    access: str
    refresh: str
    expires_at: float
    """Of the access token, by this machine's clock: seconds since the epoch."""
    scope: str = ""


def place_of(url: str) -> str:
    """The address of an MCP endpoint in its one spelling: with `/mcp` at its end, and without a toolset."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return url
    path = parts.path.rstrip("/")
    before, mcp, _ = path.rpartition("/mcp/")
    path = f"{before}/mcp" if mcp else path if path.endswith("/mcp") else f"{path}/mcp"
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}{path}"


def file() -> Path:
    """Where they are kept, beside the configuration file."""
    return endpoint.file().with_name(endpoint.SIGN_INS)


def kept(url: str) -> SignIn | None:
    """The sign-in to a server, under any spelling of its address."""
    return _load().get(place_of(url))


def latest() -> SignIn | None:
    """The sign-in that was made last and still stands: the server to talk to where nothing names one."""
    return next(reversed(_load().values()), None)


def keep(sign_in: SignIn, seconds: float = wire.SECONDS) -> None:
    """Keeps a new sign-in, in place of an earlier one to the same server.

    Raises:
        DolmenError: `unavailable` when another process holds the file for so long, or it cannot be written.
    """
    with locked(seconds):
        others = {url: each for url, each in _load().items() if url != sign_in.url}
        _write({**others, sign_in.url: sign_in})


def forget(url: str, seconds: float = wire.SECONDS) -> SignIn | None:
    """Forgets a sign-in, and returns what it was."""
    with locked(seconds):
        entries = _load()
        gone = entries.pop(place_of(url), None)
        if gone is not None:
            _write(entries)
    return gone


def access(url: str, seconds: float = wire.SECONDS) -> str:
    """An access token for a server, renewed where it is about to end.

    Raises:
        DolmenError: `unauthorized` when the sign-in has ended; `unavailable` when it cannot be renewed in time.
    """
    end = time.monotonic() + seconds
    known = kept(url)
    if known is None:
        raise _ended(place_of(url))
    if known.expires_at - time.time() > EARLY:
        return known.access
    with locked(seconds):
        known = kept(url)  # by now, another process may have done it
        if known is None:
            raise _ended(place_of(url))
        if known.expires_at - time.time() > EARLY:
            return known.access
        return _renewed(known, max(0.05, end - time.monotonic())).access


def _renewed(known: SignIn, seconds: float) -> SignIn:
    form = {"grant_type": "refresh_token", "refresh_token": known.refresh, "client_id": known.client}
    answer = wire.post(known.token_endpoint, {**form, "resource": known.resource}, seconds)
    if answer.error in ("invalid_grant", "invalid_client"):
        _write({url: each for url, each in _load().items() if url != known.url})
        raise _ended(known.url)
    if answer.status != 200:
        raise DolmenError("unavailable", f"{known.url} renews no token: {answer.why}.", "Try again later.")
    new = with_tokens(known, answer.body)
    _write({url: new if url == known.url else each for url, each in _load().items()})
    return new


def with_tokens(known: SignIn, body: Any) -> SignIn:
    """The sign-in with the tokens of an answer (RFC 6749 §5.1).

    Raises:
        DolmenError: `unavailable` for an answer that holds none.
    """
    token, seconds = body.get("access_token"), body.get("expires_in", 300)
    bearer = str(body.get("token_type", "")).lower() == "bearer"
    lasts = isinstance(seconds, int | float) and 0 <= seconds <= _LONGEST
    if not isinstance(token, str) or not token or not bearer or not lasts:
        raise DolmenError("unavailable", f"{known.url} gives no token.", "Try again later.")
    renewal = body.get("refresh_token")
    return replace(
        known,
        access=token,
        refresh=renewal if isinstance(renewal, str) else known.refresh,
        expires_at=time.time() + seconds,
        scope=str(body.get("scope") or known.scope),
    )


@contextmanager
def locked(seconds: float) -> Iterator[None]:
    """One process at a time.

    Raises:
        DolmenError: `unavailable` when it takes longer, or the folder cannot be written to.
    """
    from dolmen.client.locking import Lock

    place = file()
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = Lock(place.with_name(place.name + ".lock"))
    except OSError as error:
        raise _unwritable(place, error) from error
    try:
        if not lock.take(seconds):
            raise DolmenError("unavailable", f"Another process holds {place} for too long.", "Try again.")
        yield
    finally:
        lock.close()


def _load() -> dict[str, SignIn]:
    try:
        found = json.loads(file().read_bytes())["servers"]
        return {url: SignIn(**_known(each)) for url, each in found.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _known(entry: dict[str, Any]) -> dict[str, Any]:
    """What a later version adds is passed over."""
    names = {each.name for each in fields(SignIn)}
    return {name: value for name, value in entry.items() if name in names}


def _write(entries: dict[str, SignIn]) -> None:
    from dolmen.client.hook.places import write_private

    place = file()
    try:
        write_private(place, json.dumps({"servers": {u: asdict(e) for u, e in entries.items()}}, indent=2).encode())
    except OSError as error:
        raise _unwritable(place, error) from error


def _unwritable(place: Path, error: OSError) -> DolmenError:
    return DolmenError("unavailable", f"{place} cannot be written: {error.strerror}.", "Make the folder writable.")


def _ended(url: str) -> DolmenError:
    return DolmenError("unauthorized", f"The sign-in to {url} has ended.", f"Sign in again: `dolmen login {url}`.")
