"""What the HTTP server is told; the composition root fills it from the settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dolmen.domain.values import Bounds, Mode, Toolset

Auth = Literal["auto", "keys", "none"]

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """How the server presents itself and whom it lets in."""

    host: str = "127.0.0.1"
    """The address that it listens on; decides whether anybody may come without a key."""
    port: int = 7077
    auth: Auth = "auto"
    """`auto`: without a key on loopback unless there is a public URL, else with one; see `hosts.keyless`."""
    public_url: str = ""
    """Where clients reach it through a proxy: its host and origin are accepted, and people sign in there."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses and networks whose word is taken for where a request came from."""
    sign_in: bool = True
    """Where there is a public address, people and clients sign in there."""
    registration: bool = True
    """Clients may register themselves (RFC 7591)."""
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    rate_limit: int | None = None
    """Requests per minute of a connection without a limit of its own; 0 for no limit, None for its toolset's."""
    hourly_limit: int | None = None
    """The same per hour."""
    concurrency: int | None = None
    """The same at one time."""
    body_limit: int = 4 * MIB
    """Bytes of one request."""
    body_seconds: float = 30
    """How long the body of one request may take to arrive."""
    body_quiet_seconds: float = 10
    """How long a pause it may make meanwhile."""
    failures: int = 20
    """Requests per minute and client address that may fail for want of a valid key; 0 for no limit."""
    toolset: Toolset = "core"
    """What a connection without a key sees at /mcp."""
    mode: Mode = "write"
    """What a connection without a key may do."""
    read_only: bool = False
    """Nobody may write, whatever their key says."""
    workers: int = 16
    """Calls worked on at the same time."""
    stateless: bool = True
    """No sessions: any process answers any request, and nothing is kept between two."""
    json_response: bool = True
    """Answers come as one JSON object; False streams them, which only tools that report progress need."""

    @property
    def bounds(self) -> Bounds:
        """What connections may ask for, where the server was told so."""
        return Bounds(per_minute=self.rate_limit, per_hour=self.hourly_limit, at_once=self.concurrency)

    @property
    def base(self) -> str:
        """The public address where people and clients sign in, without a slash at its end; empty where nobody does."""
        return self.public_url.strip().rstrip("/") if self.sign_in else ""
