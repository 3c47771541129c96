"""The account page: what somebody changes about how they come in, and what they let in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from anyio import to_thread
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from dolmen.domain.errors import DolmenError
from dolmen.domain.timeframe import format_utc
from dolmen.interfaces.http.responses import STATUS
from dolmen.interfaces.http.web import qr
from dolmen.interfaces.http.web.browser import form_token
from dolmen.interfaces.http.web.entering import SIGN_IN, Entering, fields
from dolmen.interfaces.http.web.pages import page, said
from dolmen.services import own_account, passkeys, second_factor
from dolmen.services.people import SignedIn
from dolmen.services.second_factor import Offer

ACCOUNT, CODES = "/account", "/account/codes"
Form = Mapping[str, str]
DONE = frozenset({"name", "password", "no-password", "no-codes", "passkey", "remove-passkey", "browser", "connection"})
"""What the page says was done."""


@dataclass(frozen=True, slots=True)
class AccountPages:
    """`/account`, and the page on which one-time codes are turned on."""

    entering: Entering

    async def account(self, request: Request) -> Response:
        """GET shows it; POST does the one thing that the form names, and shows it anew."""
        here = await self.entering.here(request)
        if here is None:
            return self._sign_in(ACCOUNT)
        if request.method != "POST":
            return await self._page(request, here, done=request.query_params.get("done", ""))
        form = await fields(request)
        self.entering.check_token(self.entering.cookie.read(request), form, request)
        action = form.get("do", "")
        try:
            answer = await self._do(action, request, here, form)
        except DolmenError as error:
            return await self._page(request, here, tried=action, problem=error)
        return answer or self.entering.to(f"{ACCOUNT}?{urlencode({'done': action})}")

    async def codes(self, request: Request) -> Response:
        """GET shows the secret that waits for its first code; POST takes that code and shows the recovery codes."""
        here = await self.entering.here(request)
        if here is None:
            return self._sign_in(ACCOUNT)
        rt, problem = self.entering.rt, None
        if request.method == "POST":
            form = await fields(request)
            self.entering.check_token(self.entering.cookie.read(request), form, request)
            try:
                shown = await to_thread.run_sync(second_factor.confirm, rt, here, form.get("code", ""))
                return self._recovery(request, shown)
            except DolmenError as error:
                problem = error
        try:
            offer = await to_thread.run_sync(second_factor.offered, rt, here, self._issuer())
        except DolmenError:
            return self.entering.to(ACCOUNT)
        return self._offer(request, offer, problem)

    # -------------------------------------------------------------------------------------------------------- actions
    async def _do(self, action: str, request: Request, here: SignedIn, form: Form) -> Response | None:
        rt, visitor = self.entering.rt, self.entering.visitor(request)
        id, code = form.get("id", ""), form.get("code", "")
        password, new = form.get("password", ""), form.get("new", "")
        actions: dict[str, Callable[[], object]] = {
            "name": lambda: own_account.rename(rt, here, form.get("name", "")),
            "no-password": lambda: passkeys.drop_password(rt, here),
            "remove-passkey": lambda: passkeys.remove(rt, here, id),
            "no-codes": lambda: second_factor.turn_off(rt, here, password, code, visitor),
            "browser": lambda: own_account.end_browser(rt, here, id),
            "connection": lambda: own_account.end_connection(rt, here, id),
        }
        leading: dict[str, Callable[[], Awaitable[Response]]] = {
            "codes": lambda: self._begin(here),
            "recovery": lambda: self._renew(request, here, code),
            "password": lambda: self._password(request, here, password, new),
        }
        if action in leading:
            return await leading[action]()
        if action not in actions:
            raise DolmenError("invalid-argument", "There is no such thing to do.", "Go back and try again.")
        await to_thread.run_sync(actions[action], limiter=self.entering.hashing if action == "no-codes" else None)
        return None

    async def _password(self, request: Request, here: SignedIn, old: str, new: str) -> Response:
        entering = self.entering
        mark = await to_thread.run_sync(
            own_account.change_password,
            entering.rt,
            here,
            old,
            new,
            entering.visitor(request),
            limiter=entering.hashing,
        )
        answer = entering.to(f"{ACCOUNT}?{urlencode({'done': 'password'})}")
        entering.mark_cookie.set(answer, mark)
        return answer

    async def _begin(self, here: SignedIn) -> Response:
        await to_thread.run_sync(second_factor.offer, self.entering.rt, here, self._issuer())
        return self.entering.to(CODES)

    async def _renew(self, request: Request, here: SignedIn, code: str) -> Response:
        visitor = self.entering.visitor(request)
        return self._recovery(
            request, await to_thread.run_sync(second_factor.renew_recovery, self.entering.rt, here, code, visitor)
        )

    # ---------------------------------------------------------------------------------------------------------- pages
    async def _page(
        self,
        request: Request,
        here: SignedIn,
        *,
        done: str = "",
        tried: str = "",
        problem: DolmenError | None = None,
    ) -> Response:
        entering = self.entering
        if problem is not None:
            here = await entering.here(request) or here
        shown = await to_thread.run_sync(own_account.account, entering.rt, here)
        values: dict[str, Any] = {
            "person": here.person,
            "account": shown,
            "token": form_token(entering.cookie.read(request)),
            "problem": said(request, problem),
            "tried": tried,
            "done": done if done in DONE else "",
            "passkeys": entering.place.works_at(request),
            "elsewhere": entering.place.elsewhere(request, ACCOUNT),
            "moment": _moment,
        }
        status = STATUS[problem.code] if problem else 200
        return page(request, "account", values, base=entering.base, status=status, script=True)

    def _offer(self, request: Request, offer: Offer, problem: DolmenError | None) -> Response:
        values = {
            "secret": offer.text,
            "picture": qr.svg(offer.address),
            "address": offer.address,
            "token": form_token(self.entering.cookie.read(request)),
            "problem": said(request, problem),
        }
        status = STATUS[problem.code] if problem else 200
        return page(request, "codes", values, base=self.entering.base, status=status)

    def _recovery(self, request: Request, codes: list[str]) -> Response:
        return page(request, "recovery", {"codes": codes}, base=self.entering.base, own_path=None)

    def _sign_in(self, path: str) -> Response:
        return self.entering.to(f"{SIGN_IN}?{urlencode({'next': path})}")

    def _issuer(self) -> str:
        return urlsplit(self.entering.base).hostname or "dolmen"


def _moment(at: int | None) -> Markup:
    """A time for people, which keeps on one line: `2026-11-30 20:40 UTC`; empty for never."""
    if at is None:
        return Markup("")
    exact = format_utc(at)
    return Markup('<time datetime="{}">{} UTC</time>').format(exact, exact[:16].replace("T", " "))
