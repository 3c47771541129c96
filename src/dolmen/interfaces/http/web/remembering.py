"""What a browser remembers of its reader's choices. It opens nothing, and is checked anew whenever it is read."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

YEAR = 365 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Remembered:
    """A cookie with a choice. No script reads it, and nothing outside this server's pages needs it."""

    name: str
    secure: bool
    """The server is reached by https."""
    path: str = "/"
    seconds: int = YEAR

    def read(self, request: Request) -> str:
        return request.cookies.get(self.name, "")

    def set(self, response: Response, choice: str) -> None:
        response.set_cookie(
            self.name,
            choice,
            max_age=self.seconds,
            path=self.path,
            secure=self.secure,
            httponly=True,
            samesite="lax",
        )

    def clear(self, response: Response) -> None:
        response.delete_cookie(self.name, path=self.path, secure=self.secure, httponly=True, samesite="lax")


def language_cookie(secure: bool) -> Remembered:
    """The language that somebody chose: for every server of the host, whoever is signed in there."""
    # An underscore, where the names of sessions have hyphens. The prefix keeps other hosts and insecure pages from
    # setting it (RFC 6265bis §4.1.3.2).
    return Remembered("__Host-dolmen_language" if secure else "dolmen_language", secure)
