"""What somebody sees who opens an address in a browser that is for programs, or that is not there."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from dolmen.interfaces.http.web.pages import page


def reads_pages(request: Request) -> bool:
    """Whether a person is there with a browser: it asks for a page, and for nothing in anybody's name."""
    asked = request.headers.get("accept", "").lower()
    return request.method in ("GET", "HEAD") and "text/html" in asked and "authorization" not in request.headers


def instead(request: Request, refused: Response, *, base: str, tools: bool = False) -> Response:
    """The page in place of a refusal, with its status and what its headers say.

    Args:
        base: the public address where people sign in; empty where nobody does.
        tools: agents reach their tools at the address that was opened.
    """
    values = {"tools": tools, "address": f"{base or _here(request)}/mcp", "pages": bool(base)}
    own_path = "" if base else None  # the choice of a language is a page of signing in
    answer = page(request, "stray", values, base=base, status=refused.status_code, own_path=own_path)
    kept = ("www-authenticate", "allow", "retry-after")
    answer.headers.update({name: value for name, value in refused.headers.items() if name in kept})
    return answer


def _here(request: Request) -> str:
    return f"{request.url.scheme}://{request.url.netloc}"
