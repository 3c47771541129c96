"""Who is asking: a key, or this machine's own user where no key is asked for. Decided once per request."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import parse_qs

from dolmen.domain.errors import DolmenError
from dolmen.domain.identity import agent_name, normalize_project
from dolmen.domain.values import USER_SCOPE, Actor
from dolmen.interfaces.http.hosts import HostPolicy, is_loopback
from dolmen.interfaces.http.options import HttpOptions
from dolmen.interfaces.http.responses import Refusal
from dolmen.services import accounts
from dolmen.services.runtime import Runtime

PROJECT_HEADER, AGENT_HEADER = "dolmen-project", "dolmen-agent"
"""What a client may say about itself. A key's own agent name stands whatever the header says."""

_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
_KEYS_EXIST_FOR = 5.0
_PRODUCT = re.compile(r"[A-Za-z][\w.-]*")
_LIBRARIES = re.compile(
    r"(python|node|undici|axios|got|curl|wget|mozilla|go-http|okhttp|aiohttp|postman|reqwest|hyper|bun|deno|java|ruby|"
    r"apache|mcp$|mcp-(client|remote|inspector)|unknown|dart|fetch)",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Door:
    """Turns the headers of a request into an actor. Blocking: it may read the store."""

    rt: Runtime
    options: HttpOptions
    hosts: HostPolicy
    _keys_exist: bool = False
    _looked_at: float = -_KEYS_EXIST_FOR

    def actor(self, headers: Mapping[str, str], query: str = "") -> Actor:
        """The actor of a request.

        Raises:
            DolmenError: `unauthorized`; `invalid-project` for a project header that names none.
        """
        credential = headers.get("authorization")
        if credential is not None:
            actor = accounts.authenticate(self.rt, _bearer(credential))
        elif self.open(headers):
            actor = accounts.local_actor(
                self.rt,
                agent=headers.get(AGENT_HEADER, ""),
                mode=self.options.mode,
                toolset=self.options.toolset,
            )
        else:
            raise unauthorized("This needs an API key.")
        if self.options.read_only:
            actor = replace(actor, mode="read")
        project = headers.get(PROJECT_HEADER) or parse_qs(query).get("project", [""])[0]
        return _in_project(actor, project) if project.strip() else actor

    def open(self, headers: Mapping[str, str]) -> bool:
        """Whether this request may come without a key: it is this machine's, directly, and nobody set up keys."""
        if self.options.auth == "keys" or not is_loopback(self.options.host):
            return False
        if not self.hosts.local(headers.get("host")) or any(name in headers for name in _FORWARDED):
            return False
        return self.options.auth == "none" or not self._any_key()

    def _any_key(self) -> bool:
        """Whether a key was ever made. Once one was, the door does not open again without one."""
        if not self._keys_exist and time.monotonic() - self._looked_at >= _KEYS_EXIST_FOR:
            vault = accounts.ensure_vault(self.rt)
            with self.rt.store.read() as tx:
                self._keys_exist = bool(tx.accounts.connections(vault))
            self._looked_at = time.monotonic()
        return self._keys_exist


def unauthorized(message: str) -> Refusal:
    return Refusal(
        "unauthorized",
        message,
        "Send `Authorization: Bearer dlm_…`; the owner makes keys with `dolmen key create`.",
    )


def _bearer(credential: str) -> str:
    scheme, _, token = credential.strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise unauthorized("The Authorization header holds no bearer token.")
    return token.strip()


def _in_project(actor: Actor, project: str) -> Actor:
    try:
        named = None if project.strip() == USER_SCOPE else normalize_project(project)
    except DolmenError as error:
        raise DolmenError(error.code, f"{PROJECT_HEADER}: {error.message}", error.fix) from None
    return replace(actor, project=named)


def agent_of(user_agent: str) -> str | None:
    """The agent that a User-Agent header names (`claude-code/2.1 (cli)`); None for a mere HTTP library."""
    product = _PRODUCT.match(user_agent.strip())
    if product is None or _LIBRARIES.match(product[0]):
        return None
    return agent_name(product[0])
