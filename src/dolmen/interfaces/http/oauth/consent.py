"""The consent page: a person sees who asks, where the answer goes, and decides what may be done."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from anyio import to_thread
from starlette.requests import Request as HttpRequest
from starlette.responses import RedirectResponse, Response

from dolmen.domain.errors import DolmenError
from dolmen.domain.oauth import OAuthError, Resources, is_loopback
from dolmen.interfaces.http.oauth.asking import Asked, asked_by, read
from dolmen.interfaces.http.oauth.choosing import Form, Wish, place
from dolmen.interfaces.http.oauth.known import KnownClients
from dolmen.interfaces.http.web.browser import is_ours
from dolmen.interfaces.http.web.entering import Entering, fields, foreign
from dolmen.interfaces.http.web.language import spoken, words
from dolmen.interfaces.http.web.pages import page, told
from dolmen.services import oauth
from dolmen.services.oauth import Request
from dolmen.services.people import SignedIn
from dolmen.services.refusing import reference

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ConsentPage:
    """`/oauth/authorize`."""

    base: str
    resources: Resources
    clients: KnownClients
    entering: Entering
    form: Form

    async def authorize(self, request: HttpRequest) -> Response:
        """GET shows the page, to somebody who is signed in; POST takes the answer. Both check the whole request anew,
        from its address: a form cannot change what was asked."""
        try:
            given = read(request.url.query)
            client = await self.clients.get(given.get("client_id", ""))
            asked = asked_by(client, given)
        except OAuthError as error:
            _log.info("refused id=%s reason=%s: an authorization request: %s", reference(), error.code, error)
            return self._broken(request, error)
        try:
            wanted = asked.checked(self.resources)
        except OAuthError as error:
            _log.info("refused id=%s reason=%s: a request of %s: %s", reference(), error.code, client.id[:200], error)
            if not (is_loopback(asked.redirect) or place(asked.redirect) == "known"):
                # Anybody registers an address, or a program's own scheme: nobody is sent to a stranger without having
                # decided (RFC 9700 §4.11.2).
                return self._broken(request, error)
            return self._back(asked, error=error.code, error_description=error.description)
        allowed = await to_thread.run_sync(oauth.widest, self.entering.rt, client)
        wish = Wish(client, wanted.scope, wanted.resource, allowed, asked.redirect)
        here = await self.entering.here(request)
        if here is None:
            there = f"/oauth/authorize?{request.url.query}"
            return self.entering.form(request, next=there, client=wish.named)
        if request.method != "POST":
            return await self.form.page(request, here, wish)
        return await self._answered(request, here, asked, wanted, wish)

    async def _answered(
        self, request: HttpRequest, here: SignedIn, asked: Asked, wanted: Request, wish: Wish
    ) -> Response:
        form = await fields(request)
        if not is_ours(self.entering.cookie.read(request), form.get("token", "")):
            return await self.form.page(request, here, wish, problem=foreign(self.entering.address(request)))
        if form.get("answer") != "allow":
            return self._back(asked, error="access_denied", error_description="The person said no.")
        try:
            chosen = await to_thread.run_sync(self.form.chosen, form)
            code = await to_thread.run_sync(oauth.consent, self.entering.rt, here.actor, wanted, chosen, here.session)
        except DolmenError as error:
            return await self.form.page(request, here, wish, form, problem=error)
        return self._back(asked, code=code)

    def _back(self, asked: Asked, **fields: str) -> Response:
        answer = RedirectResponse(asked.answer(self.base, **fields), 303)
        answer.headers["Cache-Control"] = "no-store"
        answer.headers["Referrer-Policy"] = "no-referrer"
        return answer

    def _broken(self, request: HttpRequest, error: OAuthError) -> Response:
        lead = words(spoken(request))["error.client"]
        values = {"lead": lead, "said": told(request, error), "detail": str(error)}
        return page(request, "error", values, base=self.base, status=400)
