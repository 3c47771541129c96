"""The consent page: a person sees who asks, where the answer goes, and decides what may be done."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from anyio import to_thread
from starlette.requests import Request as HttpRequest
from starlette.responses import RedirectResponse, Response

from dolmen.domain.errors import DolmenError
from dolmen.domain.identity import agent_name
from dolmen.domain.oauth import OAuthError, Resources, host_of, is_loopback, mode_of
from dolmen.domain.values import DAY, SERVED, Mode, Toolset
from dolmen.interfaces.http.oauth.asking import Asked, asked_by, read
from dolmen.interfaces.http.oauth.known import KnownClients
from dolmen.interfaces.http.responses import STATUS
from dolmen.interfaces.http.web.browser import form_token, is_ours
from dolmen.interfaces.http.web.entering import Entering, fields
from dolmen.interfaces.http.web.language import preferred, words
from dolmen.interfaces.http.web.pages import page
from dolmen.services import oauth
from dolmen.services.oauth import Consent, Request
from dolmen.services.people import SignedIn

_log = logging.getLogger(__name__)

KNOWN_HOSTS = frozenset(
    {"claude.ai", "claude.com", "chatgpt.com", "chat.openai.com", "gemini.google.com", "vscode.dev"}
)
"""Hosts of products that people know; any other one is marked (C-310)."""
_MODES: tuple[Mode, ...] = ("read", "suggest", "write")
DAYS = 30


@dataclass(frozen=True, slots=True)
class ConsentPage:
    """`/oauth/authorize`."""

    base: str
    resources: Resources
    clients: KnownClients
    entering: Entering

    async def authorize(self, request: HttpRequest) -> Response:
        """GET shows the page, to somebody who is signed in; POST takes the answer. Both check the whole request anew,
        from its address: a form cannot change what was asked."""
        try:
            given = read(request.url.query)
            client = await self.clients.get(given.get("client_id", ""))
            asked = asked_by(client, given)
        except OAuthError as error:
            _log.info("an authorization request was refused: %s", error)
            return self._broken(request, error)
        try:
            wanted = asked.checked(self.resources)
        except OAuthError as error:
            _log.info("an authorization request of %s was refused: %s", client.id[:200], error)
            if _place(asked.redirect) == "unknown":
                # Anybody registers an address: nobody is sent to a stranger without having decided (RFC 9700 §4.11.2).
                return self._broken(request, error)
            return self._back(asked, error=error.code, error_description=error.description)
        here = await self.entering.here(request)
        if here is None:
            there = f"/oauth/authorize?{request.url.query}"
            return self.entering.form(request, next=there, client=client.name or host_of(asked.redirect))
        if request.method != "POST":
            return self._page(request, here, asked, wanted, _first(request, asked, wanted))
        return await self._answered(request, here, asked, wanted)

    async def _answered(self, request: HttpRequest, here: SignedIn, asked: Asked, wanted: Request) -> Response:
        form = await fields(request)
        if not is_ours(self.entering.cookie.read(request), form.get("token", "")):
            return self._page(request, here, asked, wanted, _first(request, asked, wanted), csrf=True)
        if form.get("answer") != "allow":
            return self._back(asked, error="access_denied", error_description="The person said no.")
        try:
            chosen = await to_thread.run_sync(self._chosen, form)
            code = await to_thread.run_sync(oauth.consent, self.entering.rt, here.actor, wanted, chosen)
        except DolmenError as error:
            return self._page(request, here, asked, wanted, form, problem=error)
        return self._back(asked, code=code)

    def _chosen(self, form: Mapping[str, str]) -> Consent:
        days = form.get("days", "")
        ends = None
        if days != "0":
            if days not in ("7", "30", "90"):
                raise DolmenError("invalid-argument", "That is no end of access.", "Choose one of the list.")
            with self.entering.rt.store.read() as tx:
                ends = tx.now + int(days) * DAY
        return Consent(
            agent=form.get("agent", ""),
            mode=cast(Mode, form.get("mode", "")),
            project=form.get("project") or None,
            toolset=cast(Toolset, form.get("toolset", "")),
            expires_at=ends,
        )

    def _page(
        self,
        request: HttpRequest,
        here: SignedIn,
        asked: Asked,
        wanted: Request,
        chosen: Mapping[str, str],
        *,
        csrf: bool = False,
        problem: DolmenError | None = None,
    ) -> Response:
        say = words(preferred(request.headers.get("accept-language", "")))
        said = say["error.csrf"] if csrf else f"{problem.message} {problem.fix}" if problem else ""
        widest = _MODES.index(mode_of(wanted.scope) or "write")
        values = {
            "client": asked.client.name or say["consent.unnamed"],
            "name": here.person.name,
            "host": host_of(asked.redirect),
            "place": _place(asked.redirect),
            "document": asked.client.id if asked.client.id.startswith("https://") else "",
            "offered": _MODES[: widest + 1],
            "toolsets": SERVED,
            "chosen": {
                "mode": chosen.get("mode", ""),
                "agent": chosen.get("agent", ""),
                "project": chosen.get("project", ""),
                "toolset": chosen.get("toolset", ""),
                "days": int(chosen["days"]) if chosen.get("days") in ("0", "7", "30", "90") else DAYS,
            },
            "token": form_token(self.entering.cookie.read(request)),
            "problem": said,
        }
        status = 403 if csrf else STATUS[problem.code] if problem else 200
        return page(request, "consent", values, base=self.base, status=status, leads_to=asked.redirect)

    def _back(self, asked: Asked, **fields: str) -> Response:
        answer = RedirectResponse(asked.answer(self.base, **fields), 303)
        answer.headers["Cache-Control"] = "no-store"
        answer.headers["Referrer-Policy"] = "no-referrer"
        return answer

    def _broken(self, request: HttpRequest, error: OAuthError) -> Response:
        say = words(preferred(request.headers.get("accept-language", "")))
        values = {"lead": say["error.client"], "detail": str(error)}
        return page(request, "error", values, base=self.base, status=400)


def _first(request: HttpRequest, asked: Asked, wanted: Request) -> dict[str, str]:
    """What the page proposes: no more than proposing, and an end."""
    widest = mode_of(wanted.scope) or "write"
    named = asked.client.name or host_of(asked.redirect).partition(":")[0]
    toolset = wanted.resource.rpartition("/mcp/")[2] if "/mcp/" in wanted.resource else SERVED[0]
    return {
        "mode": min(widest, "suggest", key=_MODES.index),
        "agent": agent_name(named),
        "toolset": toolset,
        "days": str(DAYS),
    }


def _place(redirect: str) -> str:
    if is_loopback(redirect) or not redirect.startswith("https://"):
        return "local"
    return "known" if host_of(redirect) in KNOWN_HOSTS else "unknown"
