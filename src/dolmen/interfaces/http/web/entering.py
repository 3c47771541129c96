"""Signing in and out, and the link with which somebody chooses a password."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.http.responses import STATUS
from dolmen.interfaces.http.web.browser import Cookie, form_token, is_ours
from dolmen.interfaces.http.web.pages import page
from dolmen.services import people
from dolmen.services.people import SignedIn
from dolmen.services.runtime import Runtime

FORM_LIMIT = 20_000
HOME = "/home"


@dataclass(frozen=True, slots=True)
class Entering:
    """The pages around a browser's session."""

    rt: Runtime
    base: str
    cookie: Cookie
    address: Callable[[Request], str]
    """Where a request came from, behind whatever proxies are trusted."""
    hashing: CapacityLimiter
    """How many passwords are looked at together."""

    async def here(self, request: Request) -> SignedIn | None:
        """Who is signed in with this browser."""
        return await to_thread.run_sync(people.at_browser, self.rt, self.cookie.read(request))

    async def sign_in(self, request: Request) -> Response:
        """GET shows the form; POST signs in and goes on to where the person was heading."""
        if request.method != "POST":
            return self.form(request, next=_local(request.query_params.get("next", "")))
        form = await fields(request)
        login, next = form.get("login", ""), _local(form.get("next", ""))
        try:
            secret = await to_thread.run_sync(
                lambda: people.sign_in(self.rt, login, form.get("password", ""), address=self.address(request)),
                limiter=self.hashing,
            )
        except DolmenError as error:
            return self.form(request, next=next, login=login[:64], problem=error)
        return self._signed_in(secret, next)

    def form(
        self, request: Request, *, next: str, client: str = "", login: str = "", problem: DolmenError | None = None
    ) -> Response:
        """The sign-in form; `next` is where it leads to."""
        values = {
            "next": next,
            "client": client,
            "login": login,
            "host": urlsplit(self.base).netloc,
            "problem": f"{problem.message} {problem.fix}" if problem else "",
        }
        # The form posts to us, and its answer may lead on to a page of ours only.
        return page(request, "sign_in", values, base=self.base, status=STATUS[problem.code] if problem else 200)

    async def sign_out(self, request: Request) -> Response:
        form = await fields(request)
        secret = self.cookie.read(request)
        if is_ours(secret, form.get("token", "")):
            await to_thread.run_sync(people.sign_out, self.rt, secret)
        answer = RedirectResponse(f"{self.base}/sign-in", 303)
        self.cookie.clear(answer)
        return answer

    async def enter(self, request: Request) -> Response:
        """A link: GET asks for a login and a password, POST takes them. Looking at it does not use it up, as previews
        in chats do."""
        link = request.path_params["link"]
        try:
            person = await to_thread.run_sync(people.link_of, self.rt, link)
        except DolmenError as error:
            return page(
                request, "error", {"lead": f"{error.message} {error.fix}", "detail": ""}, base=self.base, status=410
            )
        values = {"name": person.name, "login": person.login or ""}
        if request.method != "POST":
            return page(request, "enter", values, base=self.base)
        form = await fields(request)
        login, password = form.get("login", ""), form.get("password", "")
        try:
            secret = await to_thread.run_sync(
                people.choose_password, self.rt, link, login, password, limiter=self.hashing
            )
        except DolmenError as error:
            shown = {**values, "login": login[:64], "problem": f"{error.message} {error.fix}"}
            return page(request, "enter", shown, base=self.base, status=STATUS[error.code])
        return self._signed_in(secret, HOME)

    async def home(self, request: Request) -> Response:
        here = await self.here(request)
        if here is None:
            return RedirectResponse(f"{self.base}/sign-in", 303)
        values = {"name": here.person.name, "token": form_token(self.cookie.read(request))}
        return page(request, "home", values, base=self.base)

    def _signed_in(self, secret: str, next: str) -> Response:
        answer = RedirectResponse(self.base + (next or HOME), 303)
        self.cookie.set(answer, secret)
        return answer


async def fields(request: Request) -> dict[str, str]:
    """The fields of a small form."""
    from urllib.parse import parse_qsl

    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > FORM_LIMIT:
            raise DolmenError("too-large", "The form is too large.", "Enter less.")
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


def _local(next: str) -> str:
    """A place of this server to go on to, as a path; empty for any other place."""
    inside = next.startswith("/") and not next.startswith(("//", "/\\")) and next.isprintable() and len(next) < 8_000
    return next if inside and "\\" not in next else ""
