"""Three ways to forget: hide it, say that it no longer holds, destroy it (C-124, C-130)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from dolmen.domain.access import decide, decide_purge, require
from dolmen.domain.errors import DolmenError
from dolmen.domain.extraction import EVIDENCE
from dolmen.domain.memory import STATUSES, Memory
from dolmen.domain.text import fold
from dolmen.domain.values import Actor
from dolmen.services import purging
from dolmen.services.checking import refs
from dolmen.services.notes import removing
from dolmen.services.purging import Traces
from dolmen.services.recording import audit, queue, reason_text, revise
from dolmen.services.requests import Forget, ForgetMode, Forgotten
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import EVERY_PROJECT, existing, visible
from dolmen.store.contract import Filter, Tx

_log = logging.getLogger(__name__)

QUERY_LIMIT = 20
"""Memories that one `query` may forget; a longer list is refused to nobody, but shown and cut."""
_EXCERPT = 160


def forget(rt: Runtime, actor: Actor, request: Forget) -> Forgotten:
    """Forgets one memory (`ref`), several (`refs`), or those in sight that contain exactly these words (`query`).

    `soft` hides it and can be undone; `invalidate` keeps it as history that no longer holds; `purge` destroys the row,
    its revisions, its index entries and every proposal about it. Forgetting again answers `unchanged`.

    A purge by words looks everywhere: titles, tags, fields, what a memory was before; a person's also in the whole
    vault unless `project` is named, and at what was asked, said and proposed with these words.

    Raises:
        DolmenError: `not-found`; `invalid-argument` without a target.
    """
    require(actor, "write")
    if request.ref and not request.refs and not request.query and removing.names_a_note(rt, actor, request.ref):
        return _note(rt, actor, request)
    reason = reason_text(request.reason)
    if request.mode == "purge":
        rt.journal.flush()  # recalls that are not written yet may name what goes
    with rt.write(actor) as tx:
        decision, because = decide_purge(actor) if request.mode == "purge" else decide(actor)
        traces = Traces()
        if request.mode == "purge" and request.query and decision == "apply":
            traces = purging.traces(tx, actor.vault, _needle(request.query), told=actor.mode == "admin")
        targets, truncated = _targets(tx, actor, request)
        if request.query and not targets and not traces.shown:
            raise DolmenError(
                "not-found",
                "Nothing in sight contains these words.",
                "They count as they are written. Recall finds other wordings too: forget those by their refs.",
            )
        ids = tuple(m.id for m in targets)
        answer = Forgotten("unchanged", request.mode, ids, truncated=truncated, traces=traces.shown)
        if request.dry_run:
            return replace(answer, outcome="would", texts=tuple(m.text[:_EXCERPT] for m in targets))
        pending = [m for m in targets if _changes(m, request.mode)]
        if not pending and not traces.shown:
            return answer
        if decision == "queue":
            payload = {"mode": request.mode, "refs": [m.id for m in pending]}
            proposal = queue(tx, actor, "forget", because, pending[0], payload, reason, pending)
            return replace(answer, outcome="queued", proposal=proposal.id, because=because)
        purging.remove(tx, actor.vault, traces)
        needle = _needle(request.query) if request.query and request.mode == "purge" else ""
        forget_in(tx, actor, pending, request.mode, reason, needle, traces.notes)
    if request.mode == "purge":
        scrub(rt)
    return replace(answer, outcome="purged" if request.mode == "purge" else "deleted")


def _note(rt: Runtime, actor: Actor, request: Forget) -> Forgotten:
    if request.mode == "purge":
        rt.journal.flush()
    answer = removing.forget_note(rt, actor, request)
    if answer.outcome == "purged":
        scrub(rt)
    return answer


def scrub(rt: Runtime) -> None:
    """Cleans the files after a purge that has committed; a failure is logged, and later upkeep does it."""
    try:
        rt.store.scrub()
    except DolmenError as error:
        _log.warning("the purged bytes are still in the store's files: %s", error.message)


def forget_in(
    tx: Tx,
    actor: Actor,
    memories: Sequence[Memory],
    mode: ForgetMode,
    reason: str = "",
    needle: str = "",
    notes: Sequence[str] = (),
) -> None:
    """Forgets memories in the caller's transaction; blocks leave the notes that they stand in.

    Args:
        needle: the folded words of a purge by words.
        notes: ids of further notes that hold them.
    """
    if mode == "purge":
        drawn = _drawn_from(tx, actor, memories)
        memories = [*memories, *(each for each in drawn if each.status == "proposed")]
        cuts = removing.cuts_of(tx, memories, needle)
        tx.memories.strip(actor.vault, [each.id for each in drawn if each.status != "proposed"], EVIDENCE)
        tx.memories.purge(actor.vault, [m.id for m in memories])
        removing.cut(tx, actor, cuts, needle, notes)
    elif mode == "soft":
        removing.remove_blocks(tx, actor, [m for m in memories if m.note and m.status != "deleted"], reason)
        memories = [m for m in memories if not m.note]
    for memory in memories:
        if mode != "purge" and memory.status == "proposed":
            _withdraw(tx, actor, memory)
        if mode == "soft":
            revise(tx, actor, memory, "forget", reason, status="deleted", attrs=_first(memory, actor, reason))
        elif mode == "invalidate":
            revise(tx, actor, memory, "invalidate", reason, status="superseded", attrs=_first(memory, actor, reason))
    # The audit of a purge names the ids and the number, never what was said.
    audit(tx, actor, f"forget:{mode}", ",".join(m.id for m in memories)[:400])


def _withdraw(tx: Tx, actor: Actor, memory: Memory) -> None:
    """Nobody has to decide any more whether what was forgotten is stored; who restores it asks for that anew."""
    for each in tx.proposals.for_memory(actor.vault, memory.id):
        if each.status == "pending" and each.op in ("remember", "handoff"):
            tx.proposals.decide(
                actor.vault, each.id, "withdrawn", tx.now, actor.person or actor.agent, "the memory was forgotten"
            )
            audit(tx, actor, "review:withdrawn", each.id)


def _drawn_from(tx: Tx, actor: Actor, memories: Sequence[Memory]) -> list[Memory]:
    """What was extracted or digested from memories that are destroyed. It quotes them: what nobody has agreed to goes
    with them; what a person approved is that person's own word and stays, without the quote."""
    going = {memory.id for memory in memories}
    edges = tx.links.around(actor.vault, list(going))
    drawn = {edge.source for edge in edges if edge.rel == "derived_from" and edge.target in going} - going
    return list(tx.memories.many(actor.vault, list(drawn)).values())


def _first(memory: Memory, actor: Actor, reason: str) -> dict[str, object]:
    return {**memory.attrs, "forgotten_by": actor.agent, "forget_reason": reason}


def _changes(memory: Memory, mode: ForgetMode) -> bool:
    if mode == "purge":
        return True
    if mode == "soft":
        return memory.status != "deleted"
    return memory.status in ("active", "proposed")


def _targets(tx: Tx, actor: Actor, request: Forget) -> tuple[list[Memory], bool]:
    named = [*([request.ref] if request.ref else []), *request.refs]
    if bool(named) == bool(request.query):
        raise DolmenError("invalid-argument", "Name what to forget.", "Pass `ref` or `query`, one of the two.")
    if named:
        return [existing(tx, actor, ref) for ref in dict.fromkeys(refs(named))], False
    query = request.query or ""
    own = replace(actor, parents=())  # a submodule reads what is around it, but forgets only its own
    if request.mode == "purge":
        project = EVERY_PROJECT if actor.human and request.project is None else request.project
        sight = visible(tx, own, project, statuses=STATUSES, include_expired=True)
        found = list(islice(purging.holding(tx, sight, _needle(query)), QUERY_LIMIT + 1))
    else:
        sight = visible(tx, own, request.project, statuses=("active", "proposed"), include_expired=True)
        found = containing(tx, sight, query, QUERY_LIMIT + 1)
    return found[:QUERY_LIMIT], len(found) > QUERY_LIMIT


def containing(tx: Tx, sight: Filter, words: str, limit: int) -> list[Memory]:
    """Memories that contain the words as they are written, but for case and width."""
    needle = _needle(words)
    found: list[Memory] = []
    after: str | None = None
    while len(found) < limit:
        page = tx.memories.select(sight, limit=500, after=after)
        found.extend(m for m in page if needle in fold(m.text))
        if len(page) < 500:
            break
        after = page[-1].id
    return found[:limit]


def _needle(words: str) -> str:
    needle = fold(words.strip())
    if not needle:
        raise DolmenError("invalid-argument", "The query is empty.", "Pass the words that the memory contains.")
    return needle
