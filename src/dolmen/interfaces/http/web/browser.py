"""The browser's cookie, and the token that shows a form to be ours."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from dolmen.services.people import LONGEST


@dataclass(frozen=True, slots=True)
class Cookie:
    """Where a browser keeps who it is signed in as. Scripts cannot read it, other sites' forms do not send it."""

    secure: bool
    """The server is reached by https."""
    path: str = "/"

    @property
    def name(self) -> str:
        # The prefix makes browsers refuse one that another host or an insecure page set.
        return "__Host-dolmen" if self.secure and self.path == "/" else "dolmen"

    def read(self, request: Request) -> str:
        return request.cookies.get(self.name, "")

    def set(self, response: Response, secret: str) -> None:
        response.set_cookie(
            self.name, secret, max_age=LONGEST // 1_000_000, path=self.path, secure=self.secure, httponly=True,
            samesite="lax",
        )  # fmt: skip

    def clear(self, response: Response) -> None:
        response.delete_cookie(self.name, path=self.path, secure=self.secure, httponly=True, samesite="lax")


def form_token(secret: str) -> str:
    """What a form of a signed-in browser carries: nobody who does not know the cookie can make it."""
    return hmac.new(secret.encode(), b"form", hashlib.sha256).hexdigest()


def is_ours(secret: str, token: str) -> bool:
    """Whether a form came from a page that was made for this browser."""
    return bool(secret) and hmac.compare_digest(form_token(secret).encode(), token.encode())
