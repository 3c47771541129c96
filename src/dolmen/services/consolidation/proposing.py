"""Proposals that consolidation makes, and those that time has settled. A set of memories is proposed once, ever."""

from __future__ import annotations

from collections.abc import Collection

from dolmen.domain.consolidating import Judgement
from dolmen.domain.memory import Memory
from dolmen.domain.proposal import Proposal
from dolmen.domain.text import content_key
from dolmen.domain.values import Actor
from dolmen.services.recording import audit, queue, reason_text, revise
from dolmen.store.contract import Tx

AGENT = "dolmen-consolidator"
"""Who makes these proposals."""
CONNECTION = "consolidator"
VERDICTS = ("duplicate", "conflict", "digest")
_ALL = 10_000


def consolidator(vault: str) -> Actor:
    """The consolidator itself; it may only suggest."""
    return Actor(vault, "", AGENT, "suggest", CONNECTION)


def proposed(tx: Tx, a: Memory, b: Memory, said_no: Collection[frozenset[str]]) -> bool:
    """Whether one of the two was ever proposed to replace the other: pending, applied or rejected, it is not again.

    Args:
        said_no: `declined`. What a person rejected was a pair of statements, so it stays rejected when one was
            forgotten and written anew, or is here under another id.
    """
    for memory, other in ((a, b), (b, a)):
        for each in tx.proposals.for_memory(memory.vault, memory.id):
            if each.op == "replace" and each.payload.get("by") == other.id and each.status != "withdrawn":
                return True
    return frozenset((_said(a), _said(b))) in said_no


def declined(tx: Tx, vault: str) -> frozenset[frozenset[str]]:
    """The pairs of statements of which a person said that neither replaces the other."""
    found = [each for each in tx.proposals.select(vault, "rejected", CONNECTION, _ALL) if each.op == "replace"]
    pairs = [(each.memory or "", str(each.payload.get("by"))) for each in found]
    known = tx.memories.many(vault, [id for pair in pairs for id in pair])
    return frozenset(frozenset(_said(known[id]) for id in pair) for pair in pairs if all(id in known for id in pair))


def _said(memory: Memory) -> str:
    return "\0".join((memory.scope, memory.audience, content_key(memory.text)))


def propose(tx: Tx, judgement: Judgement, judge: str) -> Proposal | None:
    """Queues that one memory replaces another; None when the two were proposed before, or changed since they were
    judged.

    Args:
        judge: the model that read them, or `rules`.
    """
    keep, drop = judgement.keep, judgement.drop
    now = tx.memories.many(drop.vault, [keep.id, drop.id])
    for seen in (keep, drop):
        current = now.get(seen.id)
        if current is None or (current.text, current.status, current.scope) != (seen.text, "active", seen.scope):
            return None
    if proposed(tx, keep, drop, declined(tx, drop.vault)):
        return None
    payload = {"by": keep.id, "judge": judge}
    reason = reason_text(judgement.why)
    actor = consolidator(drop.vault)
    return queue(tx, actor, "replace", judgement.verdict, now[drop.id], payload, reason, [now[keep.id]])


def pending(tx: Tx, vault: str) -> list[Proposal]:
    """What consolidation proposed and nobody has decided, oldest first."""
    return [each for each in tx.proposals.select(vault, "pending", CONNECTION, _ALL) if each.because in VERDICTS]


def withdraw_settled(tx: Tx, vault: str) -> int:
    """Takes back proposals about memories that are not active any more; returns how many."""
    done = 0
    for each in pending(tx, vault):
        members = _members(each)
        found = tx.memories.many(vault, members)
        if all(id in found and found[id].status == "active" for id in members):
            continue
        actor = consolidator(vault)
        if not tx.proposals.decide(vault, each.id, "withdrawn", tx.now, AGENT, "settled by another change"):
            continue
        digest = None if each.op != "remember" or each.memory is None else tx.memories.get(vault, each.memory)
        if digest is not None and digest.status == "proposed":
            revise(tx, actor, digest, "withdraw", "settled by another change", status="deleted")
        audit(tx, actor, "review:withdrawn", each.id)
        done += 1
    return done


def _members(proposal: Proposal) -> list[str]:
    if proposal.op == "remember":
        return list(proposal.payload.get("supersedes", ()))
    return [id for id in (proposal.memory, proposal.payload.get("by")) if id]
