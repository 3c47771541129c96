"""Where the sign-in is reached: metadata, the calls of clients, the pages of people."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from urllib.parse import urlsplit

from anyio import CapacityLimiter
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dolmen.domain.errors import DolmenError
from dolmen.domain.oauth import Resources
from dolmen.domain.values import SERVED
from dolmen.interfaces.http.body import patiently
from dolmen.interfaces.http.limits import Limits
from dolmen.interfaces.http.oauth import metadata
from dolmen.interfaces.http.oauth.assertion import Assertions
from dolmen.interfaces.http.oauth.choosing import Form
from dolmen.interfaces.http.oauth.consent import ConsentPage
from dolmen.interfaces.http.oauth.device import DevicePage, wrong_codes
from dolmen.interfaces.http.oauth.endpoints import Endpoints, answered
from dolmen.interfaces.http.oauth.fetching import Fetcher
from dolmen.interfaces.http.oauth.known import KnownClients
from dolmen.interfaces.http.options import HttpOptions
from dolmen.interfaces.http.proxies import site
from dolmen.interfaces.http.responses import refusal
from dolmen.interfaces.http.web import routes as web
from dolmen.interfaces.http.web.browser import Cookie
from dolmen.interfaces.http.web.entering import Entering
from dolmen.services.runtime import Runtime

PER_MINUTE = 60
"""Requests of strangers for these places, per address."""
REGISTRATIONS = 10
"""Of them, registrations: each is a row. A client registers once."""
PER_SITE = 30
"""Requests that write a row, for all the addresses that one customer may have together."""
ROOTS = ("/oauth", "")
"""Where the three calls of every client are. The second is AnchorMind's, and that of clients of the protocol's
first era that read no metadata (MCP 2025-03-26, authorization, §2.3.3)."""
PASSWORDS = 2
"""Passwords looked at together: each takes 64 MiB and much of a processor, which is what they are hashed like that
for. More than these wait for their turn."""

Endpoint = Callable[[Request], Awaitable[Response]]


def routes(
    rt: Runtime,
    base: str,
    *,
    address: Callable[[Request], str],
    registration: bool = True,
    fetcher: Fetcher | None = None,
    options: HttpOptions,
) -> list[Route]:
    """The routes of a server whose public address is `base`."""
    base = base.rstrip("/")
    fetcher = fetcher or Fetcher()
    resources = Resources(base, SERVED)
    clients = KnownClients(rt, fetcher)
    endpoints = Endpoints(rt, base, resources, clients, Assertions(base, fetcher), registration)
    cookie = Cookie(base.startswith("https://"), urlsplit(base).path or "/")
    entering = Entering(rt, base, cookie, address, CapacityLimiter(PASSWORDS))
    form = Form(base, entering)
    consent = ConsentPage(base, resources, clients, entering, form)
    device = DevicePage(base, clients, entering, form, wrong_codes())
    every, registrations, sites = Limits(PER_MINUTE, 0), Limits(REGISTRATIONS, 0), Limits(PER_SITE, 0)

    def counted(endpoint: Endpoint, limits: Limits = every, *, writes: bool = False) -> Endpoint:
        async def admitted(request: Request) -> Response:
            sender, now = address(request), time.monotonic()
            with limits.request(sender, now), sites.request(site(sender), now) if writes else nullcontext():
                return await endpoint(Request(request.scope, patiently(request.receive, options)))

        return admitted

    def limited(endpoint: Endpoint, limits: Limits = every, *, writes: bool = False) -> Endpoint:
        """For programs, which read JSON."""
        admitted = counted(endpoint, limits, writes=writes)

        async def refusing(request: Request) -> Response:
            try:
                return await admitted(request)
            except DolmenError as error:
                return refusal(error)

        return refusing

    return [
        Route(metadata.PROTECTED, endpoints.resource),
        Route(metadata.PROTECTED + "/{path:path}", endpoints.resource),
        Route(metadata.SERVER, endpoints.server),
        Route(metadata.OPENID, endpoints.server),
        Route("/oauth/revoke", limited(answered(endpoints.revoke)), methods=["POST"]),
        Route("/oauth/device_authorization", limited(answered(endpoints.device), writes=True), methods=["POST"]),
        Route("/device", entering.on_a_page(counted(device)), methods=["GET", "POST"]),
        *(
            Route(root + path, endpoint, methods=methods)
            for root in ROOTS
            for path, endpoint, methods in (
                ("/register", limited(answered(endpoints.register), registrations, writes=True), ["POST"]),
                ("/token", limited(answered(endpoints.token)), ["POST"]),
                ("/authorize", entering.on_a_page(counted(consent.authorize)), ["GET", "POST"]),
            )
        ),
        *web.routes(entering, counted),
    ]
