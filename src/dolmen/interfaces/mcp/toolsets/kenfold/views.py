"""`MemoryView`: a memory as Kenfold shows it (C-52)."""

from __future__ import annotations

from collections.abc import Sequence

from dolmen.domain.code import View
from dolmen.domain.memory import HANDOFF, Memory
from dolmen.domain.values import Actor
from dolmen.interfaces.mcp.presenting import Json, compact, moment
from dolmen.interfaces.mcp.presenting import score as rounded
from dolmen.interfaces.mcp.toolsets.kenfold.types import type_of
from dolmen.services.code.views import code_refs, is_stale
from dolmen.services.requests import Claim
from dolmen.services.runtime import Runtime

_LEAST = 0.001
"""Scores are in (0, 1], also after rounding."""


def view(memory: Memory, score: float | None = None, content: str | None = None) -> Json:
    """The memory whole, or with only that much of its content; what does not apply is absent.

    What it says of code is added by `with_code`, for all memories of an answer at once.
    """
    handoff = memory.attrs if memory.label == HANDOFF else {}
    return compact(
        {
            "id": memory.id,
            "type": type_of(memory.kind),
            "scope": memory.scope,
            "content": memory.text if content is None else content,
            "source_agent": memory.agent,
            "trust": memory.trust,
            "created_at": moment(memory.created_at),
            "score": None if score is None else max(_LEAST, rounded(score)),
            "expires_at": moment(memory.expires_at),
            "next_steps": list(handoff.get("next_steps", ())),
            "resumed_by": handoff.get("resumed_by"),
            "stale": is_stale(memory) or memory.verification == "stale",
        },
        "content",
    )


def with_code(rt: Runtime, actor: Actor, shown: Sequence[Json]) -> None:
    """Adds to each view the files and symbols that its memory refers to, and how they were found last (C-232)."""
    refs = code_refs(rt, actor, [view["id"] for view in shown]) if shown else {}
    for view in shown:
        if view["id"] in refs:
            view["code_refs"] = [code_ref(ref) for ref in refs[view["id"]]]


def code_ref(ref: View) -> Json:
    return compact(
        {
            "path": ref.path or ref.resolved_path,
            "symbol": ref.symbol,
            "state": ref.state,
            "checked_commit": ref.checked_commit,
        }
    )


def views(claims: Sequence[Claim]) -> list[Json]:
    """The whole memories behind the claims of an answer."""
    return [view(claim.memory) for claim in claims if claim.memory is not None]


def summaries(claims: Sequence[Claim]) -> list[Json]:
    """Session summaries as far as the claims quote them; one that was cut ends in an ellipsis (C-194)."""
    return [view(claim.memory, content=_quoted(claim)) for claim in claims if claim.memory is not None]


def _quoted(claim: Claim) -> str:
    return claim.text if claim.span is None else claim.text[:-1].rstrip() + "…"


def found(claims: Sequence[Claim]) -> list[Json]:
    """Search results in their order, with scores that fall (C-148).

    What holds the very words of the query comes first whatever its score; it is worth at least as much as the next one.
    """
    shown: list[Json] = []
    least = 0.0
    for claim in reversed(claims):
        least = max(least, claim.score)
        if claim.memory is not None:
            shown.append(view(claim.memory, least))
    return shown[::-1]
