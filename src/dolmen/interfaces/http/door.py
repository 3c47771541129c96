"""Who is asking: a key, or this machine's own user where no key is asked for. Decided once per request."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from urllib.parse import parse_qs

from starlette.types import Scope

from dolmen.domain.errors import DolmenError
from dolmen.domain.identity import agent_name, normalize_project
from dolmen.domain.operations import narrowed
from dolmen.domain.secrets import redact
from dolmen.domain.values import PRESETS, USER_SCOPE, Actor, Preset
from dolmen.interfaces.http.hosts import HostPolicy, is_loopback, keyless
from dolmen.interfaces.http.limits import Limits, refused
from dolmen.interfaces.http.oauth.metadata import challenge
from dolmen.interfaces.http.options import HttpOptions
from dolmen.interfaces.http.proxies import Proxies, sender
from dolmen.interfaces.http.responses import Refusal
from dolmen.services import accounts, oauth
from dolmen.services.refusing import because, reason_of
from dolmen.services.runtime import Runtime

MCP = "/mcp"
KMEM = "/mcp/kmem"
KMEM_REALM = "kmem"
"""What kmem's clients are told that they knock at."""
PROJECT_HEADER, AGENT_HEADER = "dolmen-project", "dolmen-agent"
"""What a client may say about itself. A key's own agent name stands whatever the header says."""

PRESET_HEADER = "x-memento-mode"
"""Narrows what this request may do to a preset (C-303)."""

_FORWARDED = ("forwarded", "x-forwarded-", "x-real-ip", "via", "cf-connecting-ip", "true-client-ip")
"""How the headers begin with which a proxy says that the request is not its own."""
_PROGRAM = 300
"""Characters of a User-Agent that are kept."""
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
    failures: Limits = field(init=False)
    _proxies: Proxies = field(init=False)

    def __post_init__(self) -> None:
        self._proxies = Proxies.of(self.options.trusted_proxies)
        self.failures = Limits(self.options.failures, 0, _too_many_failures)

    def actor(
        self, headers: Mapping[str, str], query: str = "", *, client: str = "", path: str = MCP, named: str = ""
    ) -> Actor:
        """The actor of a request for `path` from the address `client`.

        A valid key always comes in: other programs may share its address, behind a proxy even the whole world.

        Args:
            named: the resource that a refusal names for signing in, where it is a wider one than `path`.

        Raises:
            DolmenError: `unauthorized`, or `rate-limited` after many of these from one address; `invalid-project` for
                a project header that names none.
        """
        try:
            origin = f"{client} {_program(headers.get('user-agent', ''))}".strip()
            return replace(self._actor(headers, query, path), origin=origin)
        except DolmenError as error:
            if error.code != "unauthorized":
                raise
            because(error, f"from={client}")
            with self.failures.request(client, time.monotonic()):
                raise self._challenged(error, named or path, presented="authorization" in headers) from None

    def address(self, scope: Scope) -> str:
        """Where a request came from, as limits count it."""
        return sender(self._proxies.address(scope))

    def knows(self, headers: Mapping[str, str], *, client: str) -> bool:
        """Whether the request could come in. One that does not try to is no failure."""
        if "authorization" not in headers and not self.open(headers):
            return False
        try:
            self.actor(headers, client=client)
        except DolmenError:
            return False
        return True

    def oversees(self, headers: Mapping[str, str], scope: Scope) -> bool:
        """Whether a request that could come in may see figures of the whole store, beyond its own vault: from this
        machine directly, or with a key in mode `admin`."""
        peer = scope["client"][0] if scope.get("client") else ""
        if is_loopback(peer) and not _forwarded(headers):
            return True
        return "authorization" in headers and self._by_header(headers, MCP).mode == "admin"

    def at_once(self, headers: Mapping[str, str]) -> bool:
        """Whether `actor` will answer from what was seen a moment ago: it then needs no thread of its own."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        return accounts.remembered(self.rt, token.strip()) if scheme else self.rt.at_home()

    def _actor(self, headers: Mapping[str, str], query: str, path: str) -> Actor:
        if "authorization" in headers:
            actor = self._by_header(headers, path)
        elif self.open(headers):
            actor = accounts.local_actor(
                self.rt,
                agent=headers.get(AGENT_HEADER, ""),
                mode=self.options.mode,
                toolset=self.options.toolset,
            )
        else:
            raise because(unauthorized(self._why(headers), self.options.base), "no-key")
        if self.options.read_only:
            actor = replace(actor, mode="read")
        if asked := headers.get(PRESET_HEADER, "").strip():
            actor = replace(actor, preset=_preset(actor, asked))
        project = headers.get(PROJECT_HEADER) or parse_qs(query).get("project", [""])[0]
        return _in_project(actor, project) if project.strip() else actor

    def _by_header(self, headers: Mapping[str, str], path: str) -> Actor:
        secret = _bearer(headers["authorization"])
        if self.options.base and secret.startswith(oauth.ACCESS_PREFIX):
            return oauth.authenticate(self.rt, secret, self.options.base + path.rstrip("/"))
        return accounts.authenticate(self.rt, secret)

    def _challenged(self, error: DolmenError, path: str, *, presented: bool) -> DolmenError:
        """The refusal, with where to sign in when that is possible here (C-295)."""
        realm = KMEM_REALM if path.startswith(KMEM) and not presented else ""
        if not self.options.base:
            if realm:
                headers = {"WWW-Authenticate": f'Bearer realm="{realm}"'}
                return Refusal("unauthorized", error.message, error.fix, headers=headers)
            return error
        resource = self.options.base + path.rstrip("/")
        found = challenge(self.options.base, resource, presented=presented, realm=realm)
        challenged = Refusal("unauthorized", error.message, error.fix, headers={"WWW-Authenticate": found})
        because(challenged, reason_of(error))
        return challenged

    def open(self, headers: Mapping[str, str]) -> bool:
        """Whether this request may come without a key: it is this machine's own, came directly, and not by a page."""
        ours = self.hosts.local(headers.get("host")) and not _forwarded(headers)
        return keyless(self.options) and ours and not _embedded(headers)

    def _why(self, headers: Mapping[str, str]) -> str:
        """Why a request needs a key here."""
        if self.options.base:
            return "This server asks every client to sign in, or for an API key."
        if not keyless(self.options):
            return "This server asks every client for an API key."
        if _forwarded(headers):
            return "What comes through a proxy needs an API key; only programs on this machine come in without one."
        if _embedded(headers):
            return "A web page of another site needs an API key; only programs on this machine come in without one."
        return "Under this host name an API key is needed; programs on this machine use 127.0.0.1."


def _forwarded(headers: Mapping[str, str]) -> bool:
    return any(name.lower().startswith(_FORWARDED) for name in headers)


def _embedded(headers: Mapping[str, str]) -> bool:
    """Whether another site's page loads this as its own image or script, of which it would learn whether it is there
    (https://xsleaks.dev). Browsers name no Origin then; where they do, it was checked. Whoever follows a link sees the
    answer, the page does not."""
    if "origin" in headers or headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
        return False
    return headers.get("sec-fetch-dest") != "document"


@lru_cache(256)
def _program(user_agent: str) -> str:
    """What a program calls itself: printable, short, and without a credential that it may hold."""
    return re.sub(r"[^\x20-\x7e]", "?", redact(user_agent[:_PROGRAM])[0])


def _too_many_failures(_: str, seconds: int) -> Refusal:
    return refused(
        "Too many requests without a valid key or token from this address.",
        f"Correct it in the client; wait {seconds} s. The owner makes a key with `dolmen key create AGENT`.",
        seconds,
    )


def unauthorized(message: str, base: str = "") -> Refusal:
    """`base`: the public address where people and clients sign in; empty where nobody does."""
    fix = (
        "Send `Authorization: Bearer dlm_…`. The owner makes a key with `dolmen key create AGENT`, which prints what "
        "to enter in each client."
    )
    if base:
        fix = (
            f"Connect the client to {base}{MCP} without a key: it then asks you to sign in; `dolmen login {base}` "
            f"does so on a machine without a browser. Or use a key: {fix[0].lower()}{fix[1:]}"
        )
    return Refusal("unauthorized", message, fix)


def toolset_of(actor: Actor, asked: str | None, *, with_key: bool) -> str:
    """The toolset of a request whose path names `asked`, if any.

    A key that was made for another toolset than the full one is for that alone: whoever is given a key for ChatGPT's
    two reading tools has not been given the rest. Without a key, the setting is a mere default.

    Raises:
        DolmenError: `forbidden`.
    """
    if asked is None or asked == actor.toolset:
        return actor.toolset
    if with_key and actor.toolset != "core":
        raise DolmenError(
            "forbidden",
            f"This key is for the toolset {actor.toolset} alone.",
            f"Use /mcp or /mcp/{actor.toolset}; for every toolset the owner makes a key without --toolset.",
        )
    return asked


def _bearer(credential: str) -> str:
    scheme, _, token = credential.strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise because(unauthorized("The Authorization header holds no bearer token."), "no-bearer")
    return token.strip()


def _preset(actor: Actor, asked: str) -> Preset:
    preset = next((each for each in PRESETS if each == asked), None)
    if preset is None:
        raise DolmenError(
            "invalid-argument", f"There is no preset {asked[:40]!r}.", f"Use one of {', '.join(PRESETS)}."
        )
    return narrowed(actor, preset)


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
