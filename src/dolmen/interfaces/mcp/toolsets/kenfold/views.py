"""`MemoryView`: a memory as Kenfold shows it (C-52)."""

from __future__ import annotations

from collections.abc import Sequence

from dolmen.domain.memory import HANDOFF, Memory
from dolmen.interfaces.mcp.presenting import Json, compact, moment
from dolmen.interfaces.mcp.presenting import score as rounded
from dolmen.interfaces.mcp.toolsets.kenfold.types import type_of
from dolmen.services.requests import Claim

_LEAST = 0.001
"""Scores are in (0, 1], also after rounding."""


def view(memory: Memory, score: float | None = None, content: str | None = None) -> Json:
    """The memory whole, or with only that much of its content; what does not apply is absent."""
    handoff = memory.attrs if memory.label == HANDOFF else {}
    refs = [code_ref(ref) for ref in memory.attrs.get("code_refs", ())]
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
            "code_refs": refs,
            "stale": "code" in memory.attrs or memory.verification == "stale",
        },
        "content",
    )


def code_ref(ref: Json) -> Json:
    """A file or symbol that a memory mentions, and how it was found last (C-232)."""
    return compact({name: ref.get(name) for name in ("path", "symbol", "state", "checked_commit")})


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
