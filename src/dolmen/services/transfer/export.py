"""Writing a vault out, line by line."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from dolmen import __version__
from dolmen.domain.access import require
from dolmen.domain.memory import STATUSES
from dolmen.domain.timeframe import format_utc
from dolmen.domain.values import Actor
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import EVERY_PROJECT, visible
from dolmen.services.transfer import lines
from dolmen.services.transfer.lines import FORMAT, VERSION
from dolmen.services.transfer.notes import note_line
from dolmen.services.upkeep import OWN_SETTINGS
from dolmen.store.contract import Tx

EXCLUDED: Mapping[str, str] = {
    "connections and keys": "secrets do not travel; make new keys with `dolmen key create`",
    "persons": "the importing vault has its own owner; names of authors stay in the memories",
    "idempotency keys": "they belong to connections",
    "audit rows": "they tell what happened to this store, not what anybody wrote",
    "recall events": "made by the program; feedback keeps the refs that it is about",
    "background jobs": "they are work of this store; made again where they are needed",
    "search index and vectors": "made again from the memories",
}
"""What an export leaves out, and why; its first line says the same."""


def export(rt: Runtime, actor: Actor) -> Iterator[str]:
    """The vault as JSON Lines, without line breaks: a header, what was written, and a last line with the counts.

    One snapshot: what is written meanwhile is not in it. The last line is missing from a file that was cut off.
    """
    require(actor, "admin")
    with rt.store.read() as tx:
        yield _json(_header(tx, actor))
        counts: Counter[str] = Counter()
        for line in _content(tx, actor):
            counts[line["type"]] += 1
            yield _json(line)
        yield _json({"type": "end", "counts": dict(counts)})


def _header(tx: Tx, actor: Actor) -> dict[str, Any]:
    everything = visible(tx, actor, EVERY_PROJECT, statuses=STATUSES, include_expired=True)
    return {
        "format": FORMAT,
        "version": VERSION,
        "program": f"dolmen {__version__}",
        "made_at": format_utc(tx.now),
        "vault": dict(tx.accounts.vaults()).get(actor.vault, ""),
        "memories": sum(tx.memories.count(everything).values()),
        "excluded": EXCLUDED,
    }


def _content(tx: Tx, actor: Actor) -> Iterator[dict[str, Any]]:
    vault = actor.vault
    for old, new in sorted(tx.scopes.aliases(vault).items()):
        yield {"type": "alias", "old": old, "new": new}
    names: dict[str, list[str]] = {}
    for name, note_id in tx.notes.aliases(vault).items():
        names.setdefault(note_id, []).append(name)
    for note in tx.notes.stream(vault):
        past = tx.notes.revisions(vault, note.id) if note.version > 1 else []
        yield note_line(note, past, names.get(note.id, ()))
    for memory in tx.memories.stream(vault):
        revisions = tx.memories.revisions(vault, memory.id) if memory.version > 1 else []
        yield lines.memory_line(memory, revisions)
    for link in tx.links.stream(vault):
        yield lines.link_line(link)
    for ref in tx.code_refs.stream(vault):
        yield lines.code_ref_line(ref)
    for proposal in tx.proposals.stream(vault):
        yield lines.proposal_line(proposal)
    for entry in tx.journal.feedbacks(vault):
        yield lines.feedback_line(entry)
    for key, value in sorted(tx.accounts.settings(vault).items()):
        if not key.startswith(OWN_SETTINGS):
            yield {"type": "setting", "key": key, "value": value}


def _json(line: Mapping[str, Any]) -> str:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"))
