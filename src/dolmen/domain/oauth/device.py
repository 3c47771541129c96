"""A machine without a browser, waiting for its person to enter a short code elsewhere (RFC 8628)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from dolmen.domain.values import MINUTE, SECOND

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"

DEVICE_LIFE = 10 * MINUTE
INTERVAL = 5 * SECOND
"""Between two questions of a machine (§3.5)."""
_EARLY = SECOND
"""How much earlier than that a question may come: networks are not even."""

ALPHABET = "BCDFGHJKLMNPQRSTVWXZ"
"""20 letters without vowels, so that no code is a word, and none that is taken for another (§6.1)."""
CODE_LETTERS = 8
"""20^8 codes: with few guesses a minute, nobody meets one by chance in the minutes that it holds (§5.1)."""
_BETWEEN = re.compile(r"[\s._\-\u2010-\u2015]")

DevicePoll = Literal["pending", "slow_down", "denied", "expired", "allowed", "redeemed"]
"""What a machine is told when it asks for its tokens."""


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """One waiting machine, as the store has it; its own code is kept only as a hash."""

    user_code: str
    client: str
    resource: str
    scope: str
    """Asked for; granted, once a person allowed it."""
    created_at: int
    expires_at: int
    decision: Literal["waiting", "allowed", "denied", "redeemed"] = "waiting"
    vault: str = ""
    connection: str = ""
    polled_at: int | None = None
    project: str = ""
    toolset: str = ""
    """What the consent page proposes."""


def spelled(letters: str) -> str:
    """A user code as people read it: `WDJB-MJHT`."""
    half = CODE_LETTERS // 2
    return f"{letters[:half]}-{letters[half:]}"


def user_code(entered: str) -> str | None:
    """The code that somebody means: in either case, with or without what stands between (§6.1). None for what is no
    code."""
    letters = _BETWEEN.sub("", entered[:50]).upper()
    if len(letters) != CODE_LETTERS or any(letter not in ALPHABET for letter in letters):
        return None
    return spelled(letters)


def decide_poll(device: DeviceCode, now: int) -> DevicePoll:
    """What a machine that asks at `now` is told (§3.5)."""
    if device.decision == "redeemed":
        return "redeemed"
    if device.expires_at <= now:
        return "expired"
    if device.decision == "denied":
        return "denied"
    if device.decision == "allowed":
        return "allowed"
    if device.polled_at is not None and now - device.polled_at < INTERVAL - _EARLY:
        return "slow_down"
    return "pending"
