"""remember, edit, verify, link: arguments into requests, results into JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from dolmen.domain.errors import DolmenError
from dolmen.domain.policy import SENTENCES
from dolmen.domain.values import Actor
from dolmen.interfaces.mcp.presenting import Json, compact
from dolmen.interfaces.mcp.registry import Arguments
from dolmen.interfaces.mcp.toolsets.kmem.refs import OURS, PROPOSAL, inward, outward, spoken
from dolmen.services.notes.creating import create_note
from dolmen.services.notes.editing import edit_note
from dolmen.services.notes.marking import link_notes, verify_claims
from dolmen.services.requests import NewLink
from dolmen.services.requests.notes import NewNote, NoteEdit, NoteWritten
from dolmen.services.runtime import Runtime

_SHA = re.compile("[0-9a-fA-F]{64}")
_SAME = "It stands there already."


def remember(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    supersedes = (args.get("supersedes") or "").strip()
    done = create_note(
        rt,
        actor,
        NewNote(
            content=args["content"],
            kind=args["kind"],
            title=args.get("title", ""),
            folder=args.get("folder", ""),
            permalink=args.get("permalink", ""),
            links=tuple(NewLink("relates_to", inward(to)) for to in args.get("links", ())),
            supersedes=(inward(supersedes),) if supersedes else (),
        ),
    )
    return _written(
        actor,
        "created" if done.outcome == "stored" else "queued",
        done,
        {
            "title": done.title,
            "superseded": [outward(ref) for ref in done.superseded],
            "address_in_use": None if done.address_in_use is None else spoken(done.address_in_use),
        },
    )


def edit(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    op = args["op"]
    request = NoteEdit(
        ref=args["ref"].strip() if op == "withdraw" else inward(args["ref"]),
        op=op,
        content=args.get("content"),
        key=args.get("key"),
        value=args.get("value"),
        reason=args.get("reason", ""),
        expected_sha=_seen(args.get("expected_sha")),
    )
    done = edit_note(rt, actor, request)
    if op == "withdraw":
        return _policy(actor, "withdrawn", "own") | {"proposal": f"{PROPOSAL}{done.proposal}"}
    if op == "retract" and done.proposal is None:
        return _written(actor, "retracted", replace(done, because="own"), {})
    return _written(
        actor,
        done.outcome,
        done,
        {"added": list(done.added), "changed": list(done.changed), "removed": list(done.removed)},
    )


def _seen(sha: str | None) -> str | None:
    """A `version` of a claim, or half of a sha, names nothing that was read: it is not said that the note moved on."""
    if not sha:
        return None
    if _SHA.fullmatch(sha) is None:
        raise DolmenError(
            "invalid-argument",
            f"expected_sha {sha[:80]!r} is no content_sha.",
            "Pass the content_sha that read or the last write answered, all 64 hex digits; version is not it.",
        )
    return sha


def verify(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    done = verify_claims(rt, actor, _refs(args), args["state"], args.get("note", ""))
    outcome = "queued" if done.proposal else "marked"
    marked = len(done.marked)
    return _policy(actor, outcome, done.because) | compact(
        {
            "state": done.state,
            "marked": marked,
            "missing": list(done.missing),
            "proposal": None if done.proposal is None else PROPOSAL + done.proposal,
        },
        "marked",
    )


def _refs(args: Arguments) -> Sequence[str]:
    """C-144: one or many, never both."""
    if ("ref" in args) == ("refs" in args):
        raise DolmenError(
            "invalid-argument",
            "Pass ref or refs, one of them." if "ref" not in args else "Pass ref or refs, never both.",
            "ref marks one note or block; refs marks many in one call.",
        )
    return tuple(inward(ref) for ref in ([args["ref"]] if "ref" in args else args["refs"]))


def link(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    done = link_notes(rt, actor, inward(args["from"]), args["rel_type"], inward(args["to"]))
    outcome = "linked" if done.outcome == "stored" else done.outcome
    return _policy(actor, outcome, done.because) | compact(
        {
            "from": outward(done.source),
            "rel_type": done.rel,
            "to": outward(done.to) if done.to.startswith(OURS) else done.to,
            "resolved": done.resolved,
            "proposal": None if done.proposal is None else PROPOSAL + done.proposal,
        },
        "resolved",
    )


# ------------------------------------------------------------------------------------------------------------- answers
def _written(actor: Actor, outcome: str, done: NoteWritten, more: Json) -> Json:
    return _policy(actor, outcome, done.because) | compact(
        {
            "ref": outward(done.ref),
            "permalink": done.permalink,
            "content_sha": done.sha,
            "proposal": None if done.proposal is None else PROPOSAL + done.proposal,
            **more,
            "notes": list(done.notes),
        }
    )


def _policy(actor: Actor, outcome: str, because: str) -> Json:
    """What every answer to a write says (C-142)."""
    applied = "direct" if actor.writing.policy == "direct" else "clear"
    said = _SAME if outcome == "unchanged" else SENTENCES.get(because or applied, because)
    return {
        "outcome": outcome,
        "because": said,
        "write_policy": actor.writing.policy,
        "agent_writes": "on" if actor.writing.agent_writes else "off",
    }
