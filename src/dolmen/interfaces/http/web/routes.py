"""Where the pages of people are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dolmen.interfaces.http.web.account import ACCOUNT, CODES, AccountPages
from dolmen.interfaces.http.web.entering import CODE, HOME, SIGN_IN, Entering
from dolmen.interfaces.http.web.home import HomePage
from dolmen.interfaces.http.web.pages import script, style
from dolmen.interfaces.http.web.passkeys import PasskeyCalls, in_words
from dolmen.interfaces.http.web.switching import LANGUAGE, LanguageSwitch

Endpoint = Callable[[Request], Awaitable[Response]]
BOTH = ["GET", "POST"]


def routes(entering: Entering, limited: Callable[[Endpoint], Endpoint]) -> list[Route]:
    """The routes of signing in and of one's own account; `limited` counts the requests of an address, and raises what
    one that is too many is told."""
    home, account, calls = HomePage(entering), AccountPages(entering), PasskeyCalls(entering)

    def shown(endpoint: Endpoint) -> Endpoint:
        return entering.on_a_page(limited(endpoint))

    return [
        Route(SIGN_IN, shown(entering.sign_in), methods=BOTH),
        Route(CODE, shown(entering.code), methods=BOTH),
        Route("/sign-in/passkey/challenge", in_words(limited(calls.challenge)), methods=["POST"]),
        Route("/sign-in/passkey", in_words(limited(calls.enter)), methods=["POST"]),
        Route("/sign-out", shown(entering.sign_out), methods=["POST"]),
        Route("/enter/{link}", shown(entering.enter), methods=BOTH),
        Route("/", shown(home)),
        Route(HOME, shown(home), methods=BOTH),
        Route(LANGUAGE, shown(LanguageSwitch(entering)), methods=BOTH),
        Route(ACCOUNT, shown(account.account), methods=BOTH),
        Route(CODES, shown(account.codes), methods=BOTH),
        Route("/account/passkeys/challenge", in_words(limited(calls.begin)), methods=["POST"]),
        Route("/account/passkeys", in_words(limited(calls.add)), methods=["POST"]),
        Route("/web/style.css", style),
        Route("/web/passkeys.js", script),
    ]
