"""recall, read, browse: arguments into requests, results into JSON."""

from __future__ import annotations

from collections.abc import Sequence

from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import Memory
from dolmen.domain.note import kind_of, parse_ref
from dolmen.domain.packing import asked, cost
from dolmen.domain.policy import SENTENCES
from dolmen.domain.timeframe import parse
from dolmen.domain.values import Actor
from dolmen.interfaces.mcp import clock
from dolmen.interfaces.mcp.presenting import Json, compact, encode, moment, score
from dolmen.interfaces.mcp.registry import Arguments
from dolmen.interfaces.mcp.toolsets.kmem.refs import PROPOSAL, inward, kind_named, kinds_of, outward
from dolmen.services import reading, review
from dolmen.services.notes.answering import CheckedClaim, Prices, context_pack, is_human, state_of
from dolmen.services.notes.reading import browse_notes, read_note
from dolmen.services.policy import policy_of
from dolmen.services.requests import Conflict, Recall
from dolmen.services.requests.notes import NoteView
from dolmen.services.runtime import Runtime

BUDGET, QUERY_LIMIT = 4_000, 2_000
_DATE = 10
_TITLES = 200
_PROPOSED = {"note_create": "remember"}
"""What agents called for it: kmem knows no other word."""


def recall(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    query = args["query"]
    if not query.strip():
        raise DolmenError("invalid-argument", "The query is empty.", "Say what you want to know.")
    if len(query) > QUERY_LIMIT:
        raise DolmenError("too-large", f"The query has {len(query)} characters.", f"Use at most {QUERY_LIMIT}.")
    found = context_pack(
        rt,
        actor,
        Recall(
            query=query,
            budget_tokens=asked(args.get("budget_tokens", BUDGET)),
            kinds=kinds_of(args.get("types", ())),
            since=_time(rt, args, "since"),
            include=("superseded",) if args.get("include_superseded") else (),
        ),
        Prices(lambda each: cost(encode(claim(each))), _report),
    )
    return {
        "query": found.query,
        "budget_tokens": found.requested,
        "used_tokens": found.used,
        "claims": [claim(each) for each in found.claims],
        "conflicts": [conflict(each) for each in found.conflicts],
        "gaps": list(found.gaps),
        "index_health": {"embedding_coverage": found.embedding_coverage, "lag_seconds": found.lag_seconds},
        "budget": {
            "requested": found.requested,
            "used": found.used,
            "report": found.report,
            "dropped": found.dropped,
        },
        "partial": found.partial,
        **compact({"notes": list(found.notes)}),
    }


def claim(value: CheckedClaim) -> Json:
    """C-74."""
    return {
        "ref": outward(value.ref),
        "note": value.note,
        "kind": kind_named(value.label, value.kind),
        "heading": value.heading,
        "text": value.text,
        "version": value.version,
        "status": value.status,
        "updated": str(moment(value.updated_at))[:_DATE],
        "provenance": _provenance(value.author, value.created_at, value.state, human=value.human),
        "freshness": value.freshness,
        "score": score(value.score),
        "related": [outward(ref) for ref in value.related],
        **compact({"truncated": value.cut}),
    }


def conflict(value: Conflict) -> Json:
    return {"refs": [outward(ref) for ref in value.refs], "why": value.why}


def _report(conflicts: Sequence[Conflict], gaps: Sequence[str]) -> int:
    return cost(encode([conflict(each) for each in conflicts]), encode(list(gaps)))


def _provenance(author: str, created_at: int, state: str, *, human: bool) -> Json:
    said = {"author_kind": "human" if human else "agent", "author": author, "created_at": moment(created_at)}
    return said | compact({"state": state})


# ----------------------------------------------------------------------------------------------------------------- read
def read(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    ref = inward(args["ref"])
    verification = policy_of(rt, actor).verification
    if parse_ref(ref) is None:
        found = reading.read(rt, actor, ref)
        if not found.memory.note:
            return _statement(found.memory, found.text, found.sha, verification)
    shown = read_note(rt, actor, ref, section=args.get("section"))
    return _block(shown, verification) if shown.block else _note(shown, args.get("section"), verification)


def _note(shown: NoteView, section: str | None, verification: bool) -> Json:
    """C-235, C-236: the words once, and a list of addresses."""
    note = shown.note
    blocks = [
        {"ref": outward(each.ref), "kind": kind_named(each.memory.label, each.memory.kind)}
        | compact({"state": state_of(each.memory, verification=verification)})
        for each in shown.blocks
        if each.memory is not None
    ]
    return compact(
        {
            "ref": outward(shown.ref),
            "title": note.title,
            "kind": kind_named(note.label, note.kind),
            "status": "current" if note.status == "active" else note.status,
            "updated": moment(note.updated_at),
            "content_sha": note.sha,
            "section": section,
            "markdown": shown.text,
            "blocks": blocks,
            "queued": [PROPOSAL + id for id in shown.proposals],
        },
        "markdown",
        "blocks",
    )


def _block(shown: NoteView, verification: bool) -> Json:
    note = shown.note
    memory = next((each.memory for each in shown.blocks if each.memory is not None), None)
    head = {"ref": outward(shown.ref), "note": note.permalink, "content_sha": note.sha, "text": shown.text}
    return head if memory is None else head | _who(memory, verification)


def _statement(memory: Memory, text: str, sha: str, verification: bool) -> Json:
    """A memory that is no block of a note: what an agent stored with other tools."""
    head = {"ref": outward(memory.id), "note": "", "content_sha": sha, "text": text}
    return head | _who(memory, verification)


def _who(memory: Memory, verification: bool) -> Json:
    human = is_human(memory)
    author = memory.person if human else memory.agent
    state = state_of(memory, verification=verification)
    return {
        "kind": kind_named(memory.label, memory.kind),
        "provenance": _provenance(author, memory.created_at, state, human=human),
    }


# --------------------------------------------------------------------------------------------------------------- browse
def browse(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    """C-237, C-143: structure only."""
    if args.get("queued"):
        return {"queued": queued(rt, actor)}
    path = args.get("path", "").removeprefix("kmem://").strip("/")
    found = browse_notes(
        rt, actor, path, args.get("depth", 1), changed_since=_time(rt, args, "changed_since"), limit=_TITLES
    )
    return {
        "path": path,
        "folders": [{"path": each.path, "notes": each.notes} for each in found.folders],
        "notes": [
            {
                "ref": outward(each.ref),
                "title": each.title,
                "kind": kind_named(each.kind, kind_of(each.kind, "fact")),
                "updated": str(moment(each.updated_at))[:_DATE],
            }
            for each in found.notes
        ],
        **compact({"truncated": found.truncated}),
    }


def queued(rt: Runtime, actor: Actor) -> list[Json]:
    """What this connection queued and nobody has decided yet."""
    return [
        compact(
            {
                "id": PROPOSAL + item.id,
                "op": item.change or _PROPOSED.get(item.op, item.op),
                "ref": None if item.ref is None or item.op == "note_create" else outward(item.ref),
                "title": item.ref if item.op == "note_create" else None,
                "because": SENTENCES.get(item.because, item.because),
                "reason": item.reason,
                "queued_at": moment(item.created_at),
                "stale": item.stale,
            }
        )
        for item in review.pending(rt, actor)
    ]


def _time(rt: Runtime, args: Arguments, name: str) -> int | None:
    value = args.get(name)
    return None if value is None else parse(value, clock.now(), rt.options.zone)
