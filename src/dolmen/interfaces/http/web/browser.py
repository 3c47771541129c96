"""The browser's cookies, the token that shows a form to be ours, and where a form came from."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from dolmen.services.people import LONGEST, STEP_LIFE

_BROWSERS = (("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
_SYSTEMS = (
    ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"), ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"), ("Linux", "Linux"),
)  # fmt: skip
"""The first one that a User-Agent names; most name several."""


@dataclass(frozen=True, slots=True)
class Cookie:
    """Where a browser keeps who it is signed in as. Scripts cannot read it, other sites' forms do not send it."""

    secure: bool
    """The server is reached by https."""
    base_path: str = "/"
    step: bool = False
    """For the few minutes between two steps of signing in, instead."""

    @property
    def name(self) -> str:
        # Servers may share a host, each on its own path, and a cookie of the host reaches them all. A path's
        # digest tells `/a-b` from `/a/b`, and never reads `step`.
        path = self.base_path.strip("/")
        served = [hashlib.sha256(path.encode()).hexdigest()[:12]] if path else []
        name = "-".join(["dolmen", *(["step"] if self.step else []), *served])
        # The prefix makes browsers refuse one that another host or an insecure page set (RFC 6265bis §4.1.3.2).
        return f"__Host-{name}" if self.secure else name

    @property
    def path(self) -> str:
        # The prefix asks for the whole host. A path would keep nothing from neighbours on the same host anyway: their
        # pages can read ours.
        return "/" if self.secure else self.base_path

    def read(self, request: Request) -> str:
        return request.cookies.get(self.name, "")

    def set(self, response: Response, secret: str) -> None:
        seconds = (STEP_LIFE if self.step else LONGEST) // 1_000_000
        response.set_cookie(
            self.name, secret, max_age=seconds, path=self.path, secure=self.secure, httponly=True, samesite="lax"
        )

    def clear(self, response: Response) -> None:
        response.delete_cookie(self.name, path=self.path, secure=self.secure, httponly=True, samesite="lax")


def form_token(secret: str) -> str:
    """What a form of a signed-in browser carries: nobody who does not know the cookie can make it."""
    return hmac.new(secret.encode(), b"form", hashlib.sha256).hexdigest()


def is_ours(secret: str, token: str) -> bool:
    """Whether a form came from a page that was made for this browser."""
    return bool(secret) and hmac.compare_digest(form_token(secret).encode(), token.encode())


def from_own_page(request: Request) -> bool:
    """Whether a form comes from a page of this server, as far as the browser says. Also of one that nobody is signed in
    with: a foreign page could sign it in as somebody else."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc.lower() == request.headers.get("host", "").lower()


def device_of(user_agent: str) -> str:
    """What people recognise a browser by: `Firefox · Linux`; empty for an unknown one."""
    named = (next((name for sign, name in table if sign in user_agent), "") for table in (_BROWSERS, _SYSTEMS))
    return " · ".join(filter(None, named))
