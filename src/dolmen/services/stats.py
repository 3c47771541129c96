"""How a vault is: numbers about its memories, how much of them can be found by meaning, how much is noise."""

from __future__ import annotations

from collections import Counter
from typing import Any

from dolmen import __version__
from dolmen.domain.access import require
from dolmen.domain.audience import viewer_of
from dolmen.domain.memory import KINDS, STATUSES
from dolmen.domain.quality import noise
from dolmen.domain.text import content_key
from dolmen.domain.values import Actor
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import EVERY_PROJECT, visible
from dolmen.store.contract import Filter, IndexHealth, JobState, Tx

_FEW = 20
"""The most agents and scopes that are listed by name."""


def stats(rt: Runtime, actor: Actor) -> dict[str, Any]:
    """Numbers for people and dashboards; reads every memory once, for the rates of duplicates and noise (B155).

    Shape: `{memories: {total, by_status, by_kind, by_scope, by_agent}, proposals: {pending}, feedback: {…},
    quality: {checked, duplicates, duplicate_rate, noise, noise_rate, noise_by_reason}, jobs: {kind: {state: number}},
    index: {…}}`; rates are 0..1.
    """
    require(actor, "read")
    with rt.read(actor) as tx:
        active = visible(tx, actor, EVERY_PROJECT)
        every = visible(tx, actor, EVERY_PROJECT, statuses=STATUSES, include_expired=True)
        by_status = tx.memories.count(every, "status")
        by_kind = tx.memories.count(active, "kind")
        result: dict[str, Any] = {
            "memories": {
                "total": sum(by_status.values()),
                "by_status": {status: by_status.get(status, 0) for status in STATUSES},
                "by_kind": {kind: by_kind[kind] for kind in KINDS if by_kind.get(kind)},
                "by_scope": _most(tx.memories.count(active, "scope")),
                "by_agent": _most(tx.memories.count(active, "agent")),
            },
            "proposals": {"pending": len(tx.proposals.select(actor.vault, "pending", None, 10_000))},
            "feedback": _feedback(tx, actor),
            "quality": _quality(tx, actor),
            "jobs": tx.jobs.counts(actor.vault, tx.now),
        }
    health = index_health(rt, actor)
    return result | {"index": index_numbers(rt, health), "model": model_state(rt)}


def health(rt: Runtime) -> dict[str, Any]:
    """How the store, the model and the index are, for probes: really reads the store; numbers, never texts.

    Raises:
        DolmenError: `unavailable` when the store cannot be read.
    """
    rt.store.ping()
    info = rt.store.info()
    return {
        "status": "degraded" if info.warnings else "ok",
        "version": __version__,
        "store": {
            "engine": info.engine,
            "version": info.version,
            "schema": info.schema,
            "warnings": list(info.warnings),
        },
        "model": model_state(rt),
        "reranker": None if rt.reranker is None else rt.reranker.model,
        "index": index_numbers(rt, index_health(rt, None)),
        "journal": {"lost": rt.journal.lost},
        "jobs": job_numbers(rt),
    }


def job_numbers(rt: Runtime) -> dict[str, dict[JobState, int]]:
    """{kind: {state: how many}} of all vaults; `dead` ones failed too often and wait for a person."""
    with rt.store.read() as tx:
        return tx.jobs.counts(None, tx.now)


def newest_change(rt: Runtime) -> tuple[int, int | None]:
    """(the time now, when the memory that changed last did so); None without memories."""
    with rt.store.read() as tx:
        changed = [
            memory.updated_at
            for vault, _ in tx.accounts.vaults()
            for memory in tx.memories.select(Filter(vault, None, tx.now, STATUSES, include_expired=True), "changed", 1)
        ]
        return tx.now, max(changed, default=None)


def model_state(rt: Runtime) -> dict[str, Any]:
    """The embedding model in a few words; loads nothing."""
    embedder = rt.embedder
    if embedder is None:
        return {"name": "none", "dim": 0, "ready": False}
    return {"name": embedder.model, "dim": embedder.dim, "ready": embedder.ready}


def index_health(rt: Runtime, actor: Actor | None) -> IndexHealth:
    """How much of the live text has a vector of the current model: of the actor's vault, or of all vaults."""
    with rt.store.read(viewer_of(actor) if actor else None) as tx:
        vaults = [actor.vault] if actor else [id for id, _ in tx.accounts.vaults()]
        model = _known_model(rt, tx)
        each = [tx.index.health(Filter(vault, None, tx.now), model) for vault in vaults]
    models: Counter[str] = Counter()
    for one in each:
        models.update(one.models)
    waiting = [one.oldest_pending_at for one in each if one.oldest_pending_at is not None]
    return IndexHealth(
        passages=sum(one.passages for one in each),
        embedded=sum(one.embedded for one in each),
        oldest_pending_at=min(waiting, default=None),
        models=dict(models),
    )


def index_numbers(rt: Runtime, health: IndexHealth) -> dict[str, Any]:
    """The index for people and probes; `vectors` says it in words."""
    return {
        "passages": health.passages,
        "embedded": health.embedded,
        "oldest_pending_at": health.oldest_pending_at,
        "models": dict(health.models),
        "vectors": coverage(health, rt.embedder.model if rt.embedder else "none"),
    }


def coverage(health: IndexHealth, model: str) -> str:
    """`4/125 usable, model mismatch` and its like (B014)."""
    if model == "none":
        return "none: search goes by words alone"
    others = sorted(name for name, count in health.models.items() if count and name != model)
    said = f"{health.embedded}/{health.passages} usable"
    if health.embedded >= health.passages:
        return said
    return f"{said}, model mismatch: the others were made by {', '.join(others)}" if others else f"{said}, rest pending"


def _known_model(rt: Runtime, tx: Tx) -> int | None:
    """The id of the current model; None when there is none, or when nothing was embedded with it."""
    if rt.embedder is None or rt.embedder.dim == 0:
        return None
    return tx.index.find_model(rt.embedder.model, rt.embedder.dim)


def _quality(tx: Tx, actor: Actor) -> dict[str, Any]:
    seen: set[str] = set()
    checked = duplicates = 0
    reasons: Counter[str] = Counter()
    for memory in tx.memories.stream(actor.vault):
        if not memory.served(tx.now):
            continue
        checked += 1
        key = content_key(memory.text)
        duplicates += key in seen
        seen.add(key)
        if (why := noise(memory.text)) is not None:
            reasons[why] += 1
        elif memory.verification == "rejected":
            reasons["rejected"] += 1
    total = sum(reasons.values())
    return {
        "checked": checked,
        "duplicates": duplicates,
        "duplicate_rate": round(duplicates / checked, 4) if checked else 0.0,
        "noise": total,
        "noise_rate": round(total / checked, 4) if checked else 0.0,
        "noise_by_reason": dict(sorted(reasons.items())),
    }


def _feedback(tx: Tx, actor: Actor) -> dict[str, Any]:
    entries = relevant = irrelevant = insufficient = 0
    for entry in tx.journal.feedbacks(actor.vault):
        entries += 1
        relevant += entry.relevant is True
        irrelevant += entry.relevant is False
        insufficient += entry.sufficient is False
    return {"entries": entries, "relevant": relevant, "irrelevant": irrelevant, "insufficient": insufficient}


def _most(counts: dict[str, int]) -> dict[str, int]:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown = dict(ordered[:_FEW])
    if rest := sum(count for _, count in ordered[_FEW:]):
        shown["(others)"] = rest
    return shown
