"""Every operation that a door offers, what it asks for, and in which mode presets it is. Anything else is refused.

C-303, C-316 to C-319: a preset narrows what a connection's mode allows; it never widens it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from dolmen.domain.access import Need, require
from dolmen.domain.errors import DolmenError
from dolmen.domain.values import Actor, Preset

Family = Literal["read", "trace", "guide", "write", "session", "feedback", "manage"]
"""`trace`: numbers, history and edges; `guide`: how the tools are used; `session`: reads and leaves a mark; `manage`:
who may connect, and upkeep."""

PRESET_FAMILIES: Mapping[Preset, frozenset[Family]] = {
    "recall-only": frozenset({"read", "trace", "guide", "feedback"}),
    "write-only": frozenset({"write"}),
    "onboarding": frozenset({"read", "trace", "guide", "write", "session", "feedback", "manage"}),
    "audit": frozenset({"read", "trace"}),
}


@dataclass(frozen=True, slots=True)
class Operation:
    """What one operation of one door asks for."""

    need: Need
    family: Family


READ, TRACE, GUIDE = Operation("read", "read"), Operation("read", "trace"), Operation("read", "guide")
WRITE, SESSION, FEEDBACK = Operation("write", "write"), Operation("write", "session"), Operation("read", "feedback")
MANAGE = Operation("admin", "manage")

RESOURCES = "resources/read"
"""Documents that a client attaches to a conversation."""

OPERATIONS: Mapping[str, Operation] = {
    "core.context": READ,
    "core.recall": READ,
    "core.read": READ,
    "core.browse": READ,
    "core.remember": WRITE,
    "core.edit": WRITE,
    "core.link": WRITE,
    "core.verify": WRITE,
    "core.forget": WRITE,
    "core.handoff": WRITE,
    "core.resume": SESSION,
    "core.reflect": WRITE,
    "core.feedback": FEEDBACK,
    "kenfold.get_context": READ,
    "kenfold.recall": READ,
    "kenfold.remember": WRITE,
    "kenfold.handoff": WRITE,
    "kenfold.resume": SESSION,
    "kenfold.forget": WRITE,
    "kmem.recall": READ,
    "kmem.read": READ,
    "kmem.browse": READ,
    "kmem.remember": WRITE,
    "kmem.edit": WRITE,
    "kmem.verify": WRITE,
    "kmem.link": WRITE,
    "openai.search": READ,
    "openai.fetch": READ,
    "anchormind.recall": READ,
    "anchormind.context": READ,
    "anchormind.memory_stats": TRACE,
    "anchormind.graph_explore": TRACE,
    "anchormind.fragment_history": TRACE,
    "anchormind.reconstruct_history": TRACE,
    "anchormind.search_traces": TRACE,
    "anchormind.get_skill_guide": GUIDE,
    "anchormind.tool_feedback": FEEDBACK,
    "anchormind.remember": WRITE,
    "anchormind.batch_remember": WRITE,
    "anchormind.forget": WRITE,
    "anchormind.amend": WRITE,
    "anchormind.link": WRITE,
    "anchormind.reflect": WRITE,
    "anchormind.batch_status": Operation("read", "session"),
    "anchormind.session_rotate": SESSION,
    "anchormind.memory_consolidate": MANAGE,
    "anchormind.check_update": MANAGE,
    "anchormind.apply_update": MANAGE,
    RESOURCES: READ,
    "GET /api/v1/refs": READ,
    "POST /api/v1/refs/check": WRITE,
    "GET /api/v1/mirror": READ,
    "GET /api/v1/mirror/notes": READ,
    "POST /api/v1/mirror/read": READ,
    "POST /api/v1/mirror/write": WRITE,
    "POST /api/tokens": MANAGE,
    "GET /quick": GUIDE,
    "GET /quick/recall": READ,
    "GET /quick/read": READ,
    "POST /quick/propose": WRITE,
}
"""By `toolset.tool`, or method and path."""

ANYBODY: Mapping[str, str] = {
    "GET /": "leads to the page for people",
    "GET /health": "says whether the server is up; more only to who may come in",
    "GET /metrics": "asks for a credential itself",
    "GET /api/v1/openapi.json": "which calls there are; the same for everybody",
    "GET /.well-known/oauth-protected-resource": "where to sign in",
    "GET /.well-known/oauth-protected-resource/{path}": "where to sign in",
    "GET /.well-known/oauth-authorization-server": "where to sign in",
    "GET /.well-known/openid-configuration": "where to sign in",
    "POST /oauth/register": "a client makes itself known, within limits",
    "POST /oauth/token": "a client shows a code or a token",
    "POST /register": "the same, where AnchorMind has it",
    "POST /token": "the same, where AnchorMind has it",
    "POST /oauth/revoke": "a client ends a token that it shows",
    "POST /oauth/device_authorization": "a machine asks to be let in",
    "GET /web/style.css": "how pages look",
    "GET /web/passkeys.js": "what a browser needs for passkeys",
    "BOTH /sign-in": "somebody shows who they are",
    "BOTH /sign-in/code": "somebody shows who they are",
    "POST /sign-in/passkey/challenge": "somebody shows who they are",
    "POST /sign-in/passkey": "somebody shows who they are",
    "BOTH /language": "remembers which language a browser's pages speak",
    "BOTH /enter/{link}": "whoever has the link chooses a password",
}
"""What needs no credential, and why."""

PERSONS: frozenset[str] = frozenset(
    {
        "POST /sign-out",
        "BOTH /home",
        "BOTH /account",
        "BOTH /account/codes",
        "POST /account/passkeys/challenge",
        "POST /account/passkeys",
        "BOTH /device",
        "BOTH /oauth/authorize",
        "BOTH /authorize",
    }
)
"""Pages and forms of somebody who is signed in at a browser, about themselves and what they let in."""


def permit(actor: Actor, name: str) -> None:
    """Refuses an operation that the actor's mode or preset does not cover, or that nobody entered here.

    Raises:
        DolmenError: `read-only` or `forbidden`.
    """
    operation = OPERATIONS.get(name)
    if operation is not None:
        require(actor, operation.need)
    admit(actor, name)


def admit(actor: Actor, name: str) -> None:
    """The same, but for the mode: for a door that says by itself which mode a connection lacks.

    Raises:
        DolmenError: `forbidden`.
    """
    if name not in OPERATIONS:
        raise DolmenError("forbidden", "This operation is not open to connections.", "Report it: it is in no table.")
    if not within_preset(actor.preset, name):
        raise DolmenError(
            "forbidden",
            f"This connection is limited to the preset {actor.preset}.",
            "Use a connection without it (`dolmen key create AGENT`), or leave X-Memento-Mode out.",
        )


def within_preset(preset: Preset | None, name: str) -> bool:
    """Whether a preset has the operation; without a preset, every one."""
    operation = OPERATIONS.get(name)
    return operation is not None and (preset is None or operation.family in PRESET_FAMILIES[preset])


def narrowed(actor: Actor, preset: Preset) -> Preset:
    """The preset of an actor for whom another one is asked: the one that both allow.

    Raises:
        DolmenError: `forbidden` when neither has all of the other.
    """
    own = actor.preset
    if own is None or PRESET_FAMILIES[preset] <= PRESET_FAMILIES[own]:
        return preset
    if PRESET_FAMILIES[own] <= PRESET_FAMILIES[preset]:
        return own
    raise DolmenError("forbidden", f"This connection is limited to the preset {own}.", "Leave X-Memento-Mode out.")
