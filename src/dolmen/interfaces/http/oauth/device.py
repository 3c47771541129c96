"""The page where a person enters the code that a device shows (RFC 8628 §3.3), and decides about it."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass

from anyio import to_thread
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from dolmen.domain.errors import DolmenError
from dolmen.domain.oauth import Client, DeviceCode, OAuthError
from dolmen.interfaces.http.limits import Limits, refused
from dolmen.interfaces.http.oauth.choosing import Form, Wish, device_address
from dolmen.interfaces.http.oauth.known import KnownClients
from dolmen.interfaces.http.responses import STATUS, Refusal
from dolmen.interfaces.http.web.browser import form_token, is_ours
from dolmen.interfaces.http.web.entering import HOME, Entering, fields, foreign
from dolmen.interfaces.http.web.pages import page, said
from dolmen.services import oauth
from dolmen.services.people import SignedIn
from dolmen.services.refusing import reference

_log = logging.getLogger(__name__)

WRONG_CODES = 5
"""Codes that nobody waits with, per person and minute: of 20^8, in ten minutes, a stranger's is found once in 500
million tries (§5.1)."""
_SHOWN = 20


def wrong_codes() -> Limits:
    """Counts guesses."""
    return Limits(WRONG_CODES, 0, _too_many)


def _too_many(_: str, seconds: int) -> Refusal:
    return refused("Too many codes that no device waits with.", f"Wait {seconds} s, then enter it once more.", seconds)


@dataclass(frozen=True, slots=True)
class DevicePage:
    """`/device`. Whoever comes by a link with the code in it still compares it first: the link may be somebody else's
    (§3.3.1, §5.4). Codes are looked up for those who are signed in alone."""

    base: str
    clients: KnownClients
    entering: Entering
    form: Form
    wrong: Limits

    async def __call__(self, request: HttpRequest) -> Response:
        """GET asks for the code; POST with a code shows who asks; POST with an answer decides."""
        given = request.query_params.get("user_code", "")[:_SHOWN]
        form = await fields(request) if request.method == "POST" else {}
        here = await self.entering.here(request)
        if here is None:
            code = form.get("user_code", given)[:_SHOWN]
            return self.entering.form(request, next=device_address(code))
        if request.method != "POST":
            return self._entry(request, given)
        if not is_ours(self.entering.cookie.read(request), form.get("token", "")):
            problem = foreign(self.entering.address(request))
            return self._entry(request, form.get("user_code", ""), problem)
        try:
            device, client = await self._waiting(here, form.get("user_code", ""))
            if not form.get("answer"):
                return await self.form.page(request, here, await self._wish(device, client))
            return await self._answered(request, here, device, client, form)
        except DolmenError as error:
            return self._entry(request, form.get("user_code", ""), error)

    async def _waiting(self, here: SignedIn, entered: str) -> tuple[DeviceCode, Client]:
        # Before it is known whether this one is right: else the limit would be one of what is said, not of guesses.
        self.wrong.check(here.person.id, time.monotonic())
        try:
            device = await to_thread.run_sync(oauth.waiting_device, self.entering.rt, entered)
            return device, await self.clients.get(device.client)
        except (DolmenError, OAuthError) as error:
            _log.info("refused id=%s reason=unknown-device-code person=%s", reference(), here.person.id)
            with self.wrong.request(here.person.id, time.monotonic()):
                if isinstance(error, DolmenError):
                    raise
                raise DolmenError(
                    "not-found", "The device's program is not known any more.", "Start there again."
                ) from error

    async def _wish(self, device: DeviceCode, client: Client) -> Wish:
        allowed = await to_thread.run_sync(oauth.widest, self.entering.rt, client)
        return Wish(
            client,
            device.scope,
            device.resource,
            allowed,
            user_code=device.user_code,
            project=device.project,
            toolset=device.toolset,
        )

    async def _answered(
        self, request: HttpRequest, here: SignedIn, device: DeviceCode, client: Client, form: Mapping[str, str]
    ) -> Response:
        rt = self.entering.rt
        if form.get("answer") != "allow":
            await to_thread.run_sync(oauth.deny_device, rt, here.actor, device)
            return page(request, "device_done", {"outcome": "denied"}, base=self.base, own_path=HOME)
        try:
            chosen = await to_thread.run_sync(self.form.chosen, form)
            await to_thread.run_sync(oauth.allow_device, rt, here.actor, device, client, chosen, here.session)
        except DolmenError as error:
            if error.code == "not-found":
                raise
            return await self.form.page(request, here, await self._wish(device, client), form, problem=error)
        return page(request, "device_done", {"outcome": "allowed"}, base=self.base, own_path=HOME)

    def _entry(self, request: HttpRequest, code: str, problem: DolmenError | None = None) -> Response:
        values = {
            "code": code[:_SHOWN],
            "prefilled": bool(code) and request.method != "POST",
            "token": form_token(self.entering.cookie.read(request)),
            "problem": said(request, problem),
        }
        status = STATUS[problem.code] if problem else 200
        return page(request, "device", values, base=self.base, status=status, own_path=device_address(code[:_SHOWN]))
