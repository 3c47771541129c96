"""Rendering: one page a call, every value escaped, with headers under which a browser does nothing but show it."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from dolmen.domain.errors import Code, DolmenError
from dolmen.domain.oauth import OAuthError
from dolmen.interfaces.http.web.language import NAMES, spoken, translated, words
from dolmen.services.refusing import reference

_log = logging.getLogger(__name__)

_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",  # with `no-referrer` a browser sends our own forms with the origin `null`
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
}
SURROUNDINGS: frozenset[Code] = frozenset(
    {
        "unavailable", "model-unavailable", "store-busy", "store-too-new", "store-unsafe", "store-foreign",
        "store-damaged", "internal",
    }
)  # fmt: skip
"""Refusals that tell of the server's machine, which is nothing to whoever comes to its pages."""
_SCRIPT = "script-src 'self'; connect-src 'self'; "


def page(
    request: Request,
    name: str,
    values: Mapping[str, Any],
    *,
    base: str,
    status: int = 200,
    leads_to: str = "",
    script: bool = False,
    own_path: str | None = "",
) -> Response:
    """A page in the language of its reader.

    Args:
        base: the public address of the server.
        script: the page uses passkeys, which browsers give to a script alone: the one of ours may run.
        leads_to: an address beyond this server to which an answer to the page's form sends the browser on.
        own_path: the path where the page is found in another language, if not where it was asked for; None for a page
            that is shown only once, which has no switch of languages.
    """
    language = spoken(request)
    known = words(language)

    problem = values.get("problem", "")

    def say(sentence: str, **filled: str) -> Markup:
        return escape(known[sentence]).format(**filled)

    def described(help: str = "", field: str = "") -> Markup:
        # Focus goes to the field at once, past the problem: whoever listens hears it with the field. Of several that
        # can be wrong, `wrong` names the one.
        is_wrong = bool(field) and values.get("wrong") == field
        by = " ".join(id for id in ("problem" if problem and (is_wrong or not field) else "", help) if id)
        marks = Markup(' aria-describedby="{}"').format(by) if by else Markup("")
        return marks + Markup(' aria-invalid="true" autofocus') if is_wrong else marks

    shown = {
        **values,
        "problem": problem,
        "described": described,
        "language": language,
        "languages": NAMES,
        "own_path": _asked(request) if own_path == "" else own_path,
        "say": say,
        "base_path": urlsplit(base).path.rstrip("/"),
    }
    html = _templates().get_template(f"{name}.html").render(shown)
    policy = "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
    policy = _SCRIPT + policy if script else policy
    headers = {**_HEADERS, "Content-Security-Policy": f"{policy} {_source(leads_to)}".rstrip()}
    return HTMLResponse(html, status, {**headers, "Content-Language": language, "Vary": "Accept-Language, Cookie"})


def said(request: Request, error: DolmenError | None) -> str:
    """A refusal in the language of the page where that has words for it, with the id under which the log tells more."""
    if error is None:
        return ""
    language = spoken(request)
    if error.code in SURROUNDINGS:
        _log.warning("refused id=%s reason=%s: %s", id := reference(), error.code, error.message)
        return f"{words(language)['error.server']} ({id})"
    text = translated(language, error.message) or f"{error.message} {error.fix}".rstrip()
    shown = error.data.get("reference")
    return f"{text} ({shown})" if shown else text


def told(request: Request, error: OAuthError) -> str:
    """What is wrong with what a client sent, in the language of the page; empty where that is its own."""
    return translated(spoken(request), error.description) or ""


async def style(_: Request) -> Response:
    """The one style sheet."""
    return _static("style.css", "text/css")


async def script(_: Request) -> Response:
    """The one script."""
    return _static("passkeys.js", "text/javascript")


def _static(name: str, kind: str) -> Response:
    headers = {"Cache-Control": "public, max-age=3600", "X-Content-Type-Options": "nosniff"}
    return Response(_read(name), media_type=kind, headers=headers)


def _asked(request: Request) -> str:
    """The path and the query that were asked for."""
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")


def _source(address: str) -> str:
    """An address as the policy names places: its origin, or an app's own scheme. It knows no IPv6 address (CSP 3
    §2.3.1): a browser takes `http://[::1]` for a mistake and goes nowhere, so that only the scheme can be named."""
    parts = urlsplit(address)
    if parts.scheme in ("http", "https") and "[" not in parts.netloc:
        return f"{parts.scheme}://{parts.netloc}"
    return f"{parts.scheme}:" if parts.scheme else ""


@cache
def _templates() -> Environment:
    made = Environment(
        loader=FunctionLoader(_read), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters["code"] = _code
    return made


def _code(text: str) -> Markup:
    """A text with what stands between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


@cache
def _read(name: str) -> str:
    return (files("dolmen.interfaces.http.web") / "templates" / name).read_text(encoding="utf-8")
