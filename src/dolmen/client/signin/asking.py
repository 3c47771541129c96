"""Signing in with a code that a person enters in any browser (RFC 8628), and out again."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass

from dolmen.client.signin import kept, wire
from dolmen.client.signin.finding import Found
from dolmen.client.signin.kept import SignIn
from dolmen.domain.errors import DolmenError
from dolmen.domain.oauth import DEVICE_GRANT
from dolmen.domain.values import Mode

_SLOWER = 5.0
"""Seconds that `slow_down` adds (§3.5)."""
_LONGEST = 3600.0
"""Seconds that a code is waited for, whatever the server says."""
_SCOPES: dict[str, str] = {"read": "read", "suggest": "read suggest", "write": "read suggest write"}


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the person is shown."""

    url: str
    code: str
    complete: str
    """The address with the code in it."""
    minutes: int
    """How long it holds."""


def sign_in(
    found: Found,
    show: Callable[[Prompt], None],
    *,
    mode: Mode = "write",
    project: str = "",
    toolset: str = "",
    wait: Callable[[float], object] | None = None,
) -> SignIn:
    """Signs in, and keeps the tokens; an earlier sign-in to the same server ends.

    Args:
        mode: the most to ask for; the person decides.
        project, toolset: what the consent page proposes.
        wait: lets so many seconds pass.

    Raises:
        DolmenError: `forbidden` when the person says no, `gone` when the code ends before they answer, `unavailable`,
            `conflict`.
    """
    before = kept.kept(found.url)
    wishes = {"scope": _SCOPES[mode], "resource": found.resource, "project": project, "toolset": toolset}
    client = before.client if before else _registered(found)
    asked = wire.post(found.device, {**wishes, "client_id": client})
    if before and asked.error == "invalid_client":
        client = _registered(found)
        asked = wire.post(found.device, {**wishes, "client_id": client})
    secret, prompt, pause, ends = _codes(found, asked)
    show(prompt)
    form = {"grant_type": DEVICE_GRANT, "device_code": secret, "client_id": client}
    given = _answered(found, form, pause, ends, wait or time.sleep)
    empty = SignIn(found.url, found.resource, client, found.token, found.revocation, "", "", 0.0)
    new = kept.with_tokens(empty, given.body)
    kept.keep(new)
    if before is not None:
        _revoke(before)
    return new


def sign_out(url: str) -> bool:
    """Forgets the tokens and ends them at the server; whether the server heard of it.

    Raises:
        DolmenError: `not-found` for a server that nobody is signed in to.
    """
    gone = kept.forget(url)
    if gone is None:
        raise DolmenError(
            "not-found", f"You are not signed in to {kept.place_of(url)}.", "`dolmen login URL` signs in."
        )
    return _revoke(gone)


def _registered(found: Found) -> str:
    if not found.registration:
        raise DolmenError(
            "conflict", f"{found.issuer} lets no program register itself.", "Use a key: DOLMEN_URL and DOLMEN_KEY."
        )
    name = f"Dolmen on {platform.node() or 'a machine'}"[:100]
    wish = {
        "client_name": name,
        "redirect_uris": [],
        "grant_types": [DEVICE_GRANT, "refresh_token"],
        "response_types": [],
        "token_endpoint_auth_method": "none",
    }
    answer = wire.post_json(found.registration, wish)
    id = answer.body.get("client_id")
    if answer.status not in (200, 201) or not isinstance(id, str):
        raise DolmenError("unavailable", f"{found.issuer} registers no program: {answer.why}.", "Try again later.")
    return id


def _codes(found: Found, asked: wire.Answer) -> tuple[str, Prompt, float, float]:
    """The device's code, what is shown, the pause between two questions and how long to ask, in seconds."""
    body = asked.body
    secret, code, url = (str(body.get(name) or "") for name in ("device_code", "user_code", "verification_uri"))
    if asked.status != 200 or not (secret and code and url):
        raise DolmenError("unavailable", f"{found.issuer} gives no code: {asked.why}.", "Try again later.")
    complete = str(body.get("verification_uri_complete") or url)
    for address in (url, complete):
        wire.require_private(address)
    lasts, pause = _seconds(body.get("expires_in"), 600, _LONGEST), _seconds(body.get("interval"), 5, 60)
    return secret, Prompt(url, code, complete, max(1, round(lasts / 60))), pause, lasts


def _answered(
    found: Found, form: dict[str, str], pause: float, lasts: float, wait: Callable[[float], object]
) -> wire.Answer:
    left = lasts
    while left > 0:
        wait(pause)
        left -= pause
        answer = _asked(found.token, form)
        if answer is None:
            pause = min(pause * 2, 60.0)  # a server that cannot be reached is asked less and less often (§3.5)
            continue
        match answer.error:
            case "authorization_pending":
                continue
            case "slow_down":
                pause += _SLOWER
            case "access_denied":
                raise DolmenError("forbidden", "The person said no.", "Nothing was kept; sign in again to ask again.")
            case "":
                return answer
            case "expired_token":
                break
            case _:
                why = f"{found.issuer} refuses to sign this machine in: {answer.why}."
                raise DolmenError("unavailable", why, "Sign in again.")
    raise DolmenError("gone", "Nobody entered the code in time.", "Sign in again: it gives another one.")


def _asked(url: str, form: dict[str, str]) -> wire.Answer | None:
    """The answer; None when none came."""
    try:
        answer = wire.post(url, form)
    except DolmenError as error:
        if error.code != "unavailable":
            raise
        return None
    return None if answer.later else answer


def _revoke(gone: SignIn) -> bool:
    if not gone.revocation_endpoint:
        return False
    try:
        answer = wire.post(gone.revocation_endpoint, {"token": gone.refresh or gone.access, "client_id": gone.client})
    except DolmenError:
        return False
    return answer.status == 200


def _seconds(said: object, default: float, most: float) -> float:
    """What a server says, within reason: JSON can write infinity, and integers that no float holds."""
    return float(min(max(said, 1), most)) if isinstance(said, int | float) and said > 0 else default
