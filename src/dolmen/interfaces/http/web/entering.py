"""Signing in and out, and the link with which somebody chooses a password."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from urllib.parse import urlencode, urlsplit

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from dolmen.domain.errors import DolmenError
from dolmen.domain.values import SECOND
from dolmen.interfaces.http.responses import REFUSED, STATUS, Refusal
from dolmen.interfaces.http.web.browser import Cookie, device_of, form_token, from_own_page, is_ours
from dolmen.interfaces.http.web.pages import page, said
from dolmen.interfaces.http.web.places import Place
from dolmen.interfaces.http.web.remembering import Remembered
from dolmen.services import people, second_factor
from dolmen.services.people import LONGEST, Entry, SignedIn, Visitor
from dolmen.services.refusing import reason_of, reference, refused
from dolmen.services.runtime import Runtime

_log = logging.getLogger(__name__)

FORM_LIMIT = 20_000
Endpoint = Callable[[Request], Awaitable[Response]]
HOME, SIGN_IN, CODE = "/home", "/sign-in", "/sign-in/code"


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

    @property
    def step(self) -> Cookie:
        """The cookie between two steps."""
        return replace(self.cookie, step=True)

    @property
    def vault_cookie(self) -> Remembered:
        """Which of their vaults somebody chose; as long as they may be signed in."""
        return Remembered(f"{self.cookie.name}-vault", self.cookie.secure, self.cookie.path, LONGEST // SECOND)

    @property
    def mark_cookie(self) -> Remembered:
        """What a browser is known by that somebody signed in with before. It opens nothing, and stays when they sign
        out: it is for the next time."""
        return Remembered(f"{self.cookie.name}-known", self.cookie.secure, self.cookie.path)

    def offered_vault(self, request: Request, here: SignedIn, vaults: Iterable[str]) -> str:
        """Which of these vaults of a person comes first: the one that they chose, or else where they sign in."""
        chosen = self.vault_cookie.read(request)
        return chosen if chosen in vaults else here.person.vault

    @property
    def place(self) -> Place:
        return Place(self.base)

    async def here(self, request: Request) -> SignedIn | None:
        """Who is signed in with this browser."""
        return await to_thread.run_sync(people.at_browser, self.rt, self.cookie.read(request))

    def visitor(self, request: Request) -> Visitor:
        """Where a request comes from."""
        device = device_of(request.headers.get("user-agent", ""))
        return Visitor(self.address(request), device, self.cookie.read(request), self.mark_cookie.read(request))

    async def sign_in(self, request: Request) -> Response:
        """GET shows the form; POST signs in and goes on to where the person was heading."""
        if request.method != "POST":
            return self.form(request, next=local(request.query_params.get("next", "")))
        form = await fields(request)
        login, password, next = form.get("login", ""), form.get("password", ""), local(form.get("next", ""))
        try:
            entry = await to_thread.run_sync(
                people.sign_in, self.rt, login, password, self.visitor(request), limiter=self.hashing
            )
        except DolmenError as error:
            return self.form(request, next=next, login=login[:64], problem=error)
        return self._entered(entry, next)

    def form(
        self, request: Request, *, next: str, client: str = "", login: str = "", problem: DolmenError | None = None
    ) -> Response:
        """The sign-in form; `next` is where it leads to."""
        there = SIGN_IN + (f"?{urlencode({'next': next})}" if next else "")
        values = {
            "next": next,
            "client": client,
            "login": login,
            "host": urlsplit(self.base).netloc,
            "problem": said(request, problem),
            "passkeys": self.place.works_at(request),
            "elsewhere": self.place.elsewhere(request, there),
        }
        # The form posts to us, and its answer may lead on to a page of ours only.
        status = STATUS[problem.code] if problem else 200
        # What was sent is not in the address, which is asked for once more.
        own_path = there if request.method == "POST" else ""
        return page(request, "sign_in", values, base=self.base, status=status, script=True, own_path=own_path)

    async def code(self, request: Request) -> Response:
        """The second step: asks for a one-time code after the right password."""
        secret = self.step.read(request)
        if request.method != "POST":
            if not await to_thread.run_sync(second_factor.waits, self.rt, secret):
                return self.to(SIGN_IN)
            return self._code_form(request, secret, local(request.query_params.get("next", "")))
        form = await fields(request)
        next = local(form.get("next", ""))
        self.check_token(secret, form, request)
        try:
            entry = await to_thread.run_sync(
                second_factor.answer, self.rt, secret, form.get("code", ""), self.visitor(request)
            )
        except DolmenError as error:
            if error.code == "gone":
                return self.form(request, next=next, problem=error)
            return self._code_form(request, secret, next, problem=error)
        return self._entered(entry, next)

    def _code_form(self, request: Request, secret: str, next: str, *, problem: DolmenError | None = None) -> Response:
        values = {"next": next, "token": form_token(secret), "problem": said(request, problem)}
        own_path = CODE + (f"?{urlencode({'next': next})}" if next else "")
        return page(
            request, "code", values, base=self.base, status=STATUS[problem.code] if problem else 200, own_path=own_path
        )

    async def sign_out(self, request: Request) -> Response:
        form = await fields(request)
        secret = self.cookie.read(request)
        if is_ours(secret, form.get("token", "")):
            await to_thread.run_sync(people.sign_out, self.rt, secret)
        answer = self.to(SIGN_IN)
        self.cookie.clear(answer)
        self.vault_cookie.clear(answer)
        return answer

    async def enter(self, request: Request) -> Response:
        """A link: GET asks for a login and a password, POST takes them. Looking at it does not use it up, as previews
        in chats do."""
        link = request.path_params["link"]
        try:
            person = await to_thread.run_sync(people.link_of, self.rt, link)
        except DolmenError as error:
            values = {"lead": said(request, error), "detail": "", "link": True}
            return page(request, "error", values, base=self.base, status=410)
        values = {"name": person.name, "login": person.login or ""}
        if request.method != "POST":
            return page(request, "enter", values, base=self.base)
        form = await fields(request)
        login, password = form.get("login", ""), form.get("password", "")
        try:
            entry = await to_thread.run_sync(
                people.choose_password, self.rt, link, login, password, self.visitor(request), limiter=self.hashing
            )
        except DolmenError as error:
            shown = {**values, "login": login[:64], "problem": said(request, error)}
            return page(request, "enter", shown, base=self.base, status=STATUS[error.code])
        return self._entered(entry, HOME)

    def on_a_page(self, endpoint: Endpoint) -> Endpoint:
        """An endpoint whose refusals people can read."""

        async def answered(request: Request) -> Response:
            try:
                return await endpoint(request)
            except DolmenError as error:
                return self._refused(request, error)

        return answered

    def _refused(self, request: Request, error: DolmenError) -> Response:
        status = error.status if isinstance(error, Refusal) else STATUS[error.code]
        if status in REFUSED and "reference" not in error.data:  # else it is in the log already
            _log.info("refused id=%s reason=%s", reference(), reason_of(error))
        values = {"lead": said(request, error), "detail": ""}
        own_path = HOME if request.method == "POST" else ""
        answer = page(request, "error", values, base=self.base, status=status, own_path=own_path)
        answer.headers.update(error.headers if isinstance(error, Refusal) else {})
        return answer

    def signed_in(self, response: Response, entry: Entry) -> None:
        """Gives a browser the secret of its session; what it had for a step ends."""
        self.cookie.set(response, entry.secret)
        self.step.clear(response)
        if entry.mark:
            self.mark_cookie.set(response, entry.mark)

    def to(self, path: str) -> Response:
        """Sends a browser on to a page of this server, under the host name by which it came."""
        return RedirectResponse(self.place.base_path + path, 303)

    def check_token(self, secret: str, form: dict[str, str], request: Request) -> None:
        """Refuses a form that was not made for this browser.

        Raises:
            DolmenError: `forbidden`.
        """
        if not is_ours(secret, form.get("token", "")):
            raise foreign(self.address(request))

    def _entered(self, entry: Entry, next: str) -> Response:
        if entry.complete:
            answer = self.to(next or HOME)
            self.signed_in(answer, entry)
        else:
            answer = self.to(CODE + (f"?{urlencode({'next': next})}" if next else ""))
            self.step.set(answer, entry.secret)
        return answer


async def fields(request: Request) -> dict[str, str]:
    """The fields of a small form of ours.

    Raises:
        DolmenError: `forbidden` for one that a page of another server sent; `too-large`.
    """
    from urllib.parse import parse_qsl

    body = await sent(request)
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


async def sent(request: Request) -> bytes:
    """What a page of ours sent.

    Raises:
        DolmenError: `forbidden`, `too-large`.
    """
    if not from_own_page(request):
        raise foreign()
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > FORM_LIMIT:
            raise DolmenError("too-large", "The form is too large.", "Enter less.")
    return body


def foreign(address: str = "") -> DolmenError:
    """What is said to a form that is not ours."""
    return refused(
        "forbidden", "The page was open for too long, or was not ours.", "Go back and try again.",
        reason="foreign-form", address=address,
    )  # fmt: skip


def local(next: str) -> str:
    """A place of this server to go on to, as a path; empty for any other place."""
    inside = next.startswith("/") and not next.startswith(("//", "/\\")) and next.isprintable() and len(next) < 8_000
    return next if inside and "\\" not in next else ""
