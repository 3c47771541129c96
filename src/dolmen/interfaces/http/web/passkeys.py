"""What the script asks for: challenges for passkeys, and what became of the answers. JSON of our own pages alone."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from dolmen.domain.errors import DolmenError
from dolmen.domain.passkeys import ALGORITHMS, from_base64url
from dolmen.domain.text import clean
from dolmen.interfaces.http.responses import STATUS, Refusal
from dolmen.interfaces.http.web.account import ACCOUNT
from dolmen.interfaces.http.web.browser import is_ours
from dolmen.interfaces.http.web.entering import HOME, Entering, foreign, local, sent
from dolmen.interfaces.http.web.pages import said
from dolmen.services import passkeys
from dolmen.services.passkeys import Answer, Site
from dolmen.services.people import STEP_LIFE, SignedIn

TIMEOUT = STEP_LIFE // 1_000
"""Milliseconds, as browsers count."""
Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class PasskeyCalls:
    """Signing in with a passkey, and adding one."""

    entering: Entering

    async def challenge(self, request: Request) -> Response:
        """Asks whoever is there for any passkey of this server."""
        await _object(request)
        secret, challenge = await to_thread.run_sync(passkeys.challenge, self.entering.rt)
        asked = {"challenge": challenge, "rpId": self._site().rp, "userVerification": "required", "timeout": TIMEOUT}
        answer = _json(asked)
        self.entering.step.set(answer, secret)
        return answer

    async def enter(self, request: Request) -> Response:
        """Signs in by the answer; says where to go on to."""
        given = await _object(request)
        answer = Answer(
            id=_text(given, "id"),
            handle=_text(given, "userHandle"),
            client_data=_bytes(given, "clientDataJSON"),
            authenticator_data=_bytes(given, "authenticatorData"),
            signature=_bytes(given, "signature"),
        )
        secret, visitor = self.entering.step.read(request), self.entering.visitor(request)
        entry = await to_thread.run_sync(passkeys.enter, self.entering.rt, secret, self._site(), answer, visitor)
        there = self.entering.place.base_path + (local(_text(given, "next")) or HOME)
        response = _json({"next": there})
        self.entering.signed_in(response, entry)
        return response

    async def begin(self, request: Request) -> Response:
        """Asks a browser that is signed in for a new passkey."""
        here = await self._here(request, await _object(request))
        made = await to_thread.run_sync(passkeys.begin, self.entering.rt, here)
        site = self._site()
        return _json(
            {
                "challenge": made.challenge,
                "rp": {"id": site.rp, "name": f"Dolmen · {site.rp}"},
                "user": {
                    "id": made.handle,
                    "name": here.person.login or here.person.name,
                    "displayName": here.person.name,
                },
                "pubKeyCredParams": [{"type": "public-key", "alg": each} for each in ALGORITHMS],
                "authenticatorSelection": {
                    "residentKey": "required",
                    "requireResidentKey": True,
                    "userVerification": "required",
                },
                "attestation": "none",
                "excludeCredentials": [{"type": "public-key", "id": each} for each in made.exclude],
                "timeout": TIMEOUT,
            }
        )

    async def add(self, request: Request) -> Response:
        """Keeps what the authenticator made."""
        given = await _object(request)
        here = await self._here(request, given)
        client, attested = _bytes(given, "clientDataJSON"), _bytes(given, "attestationObject")
        name = _text(given, "name")
        await to_thread.run_sync(passkeys.add, self.entering.rt, here, self._site(), client, attested, name)
        return _json({"next": f"{self.entering.place.base_path}{ACCOUNT}?done=passkey"})

    async def _here(self, request: Request, given: dict[str, Any]) -> SignedIn:
        here = await self.entering.here(request)
        if here is None:
            raise DolmenError("unauthorized", "You are signed out.", "Sign in again.")
        if not is_ours(self.entering.cookie.read(request), _text(given, "token")):
            raise foreign(self.entering.address(request))
        return here

    def _site(self) -> Site:
        site = self.entering.place.site
        if site is None:
            raise DolmenError(
                "configuration",
                "This address has no passkeys.",
                "They need https and a host name: set DOLMEN_PUBLIC_URL to one.",
            )
        return site


def in_words(endpoint: Endpoint) -> Endpoint:
    """An endpoint whose refusals are one text in the language of the page."""

    async def answered(request: Request) -> Response:
        try:
            return await endpoint(request)
        except DolmenError as error:
            status = error.status if isinstance(error, Refusal) else STATUS[error.code]
            answer = _json({"error": said(request, error)}, status)
            answer.headers.update(error.headers if isinstance(error, Refusal) else {})
            return answer

    return answered


def _json(value: dict[str, Any], status: int = 200) -> Response:
    return JSONResponse(value, status, {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"})


async def _object(request: Request) -> dict[str, Any]:
    body = await sent(request)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise foreign()  # a form of another site cannot send this type
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise _malformed()
    return found


def _text(given: dict[str, Any], name: str) -> str:
    value = given.get(name, "")
    if not isinstance(value, str):
        raise _malformed()
    return clean(value)[0]


def _bytes(given: dict[str, Any], name: str) -> bytes:
    try:
        return from_base64url(_text(given, name))
    except ValueError:
        raise _malformed() from None


def _malformed() -> DolmenError:
    return DolmenError("invalid-argument", "That is no answer of a passkey.", "Reload the page and try again.")
