"""A proposal as a person sees it before deciding: everything that would change, as it is and as it would be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import CONTENT_LIMIT, Memory
from dolmen.domain.proposal import Proposal
from dolmen.services.edit import earlier
from dolmen.services.notes import proposing
from dolmen.services.reading import changed_fields, text_diff
from dolmen.store.contract import Tx


def targets(tx: Tx, proposal: Proposal) -> dict[str, Memory | None]:
    """Everything that the proposal touches, by ref; None for what is not here any more."""
    refs = dict.fromkeys(
        [*([proposal.memory] if proposal.memory else []), *proposal.payload.get("refs", ()), *_versions(proposal)]
    )
    found = tx.memories.many(proposal.vault, list(refs))
    return {ref: found.get(ref) for ref in refs}


def changed(tx: Tx, proposal: Proposal, touched: Mapping[str, Memory | None]) -> list[str]:
    """Refs of what is not any more what the writer of the proposal saw."""
    if proposing.about_note(proposal):
        return [proposing.subject(tx, proposal)[0] or "here"] if proposing.moved(tx, proposal) else []
    seen = _versions(proposal)
    return [ref for ref, memory in touched.items() if ref in seen and (memory is None or memory.version != seen[ref])]


def _versions(proposal: Proposal) -> dict[str, int | None]:
    versions = proposal.payload.get("versions")
    if isinstance(versions, Mapping):
        return dict(versions)
    return {proposal.memory: proposal.base_version} if proposal.memory else {}


def diff(tx: Tx, proposal: Proposal, touched: Mapping[str, Memory | None]) -> str:
    """What would change, with the whole text and title of everything it is about."""
    if proposing.about_note(proposal):
        return proposing.shown(tx, proposal)
    memory = touched.get(proposal.memory or "")
    if memory is None:
        return ""
    payload = proposal.payload
    if proposal.op in ("remember", "handoff"):
        lines = _new(memory, touched, payload)
    elif proposal.op in ("amend", "supersede"):
        lines = _edited(memory, payload)
    elif proposal.op == "restore":
        lines = _restored(tx, memory, payload.get("version"))
    elif proposal.op == "link":
        to = tx.memories.get(proposal.vault, payload["to"])
        lines = [*_as_it_is(memory), f"+{memory.id} {payload.get('rel')} {payload.get('to')}"]
        lines += [] if to is None else _as_it_is(to)
    elif proposal.op == "replace":
        keep = touched.get(payload["by"])
        lines = [f"({payload['by']} stays)", *([] if keep is None else _as_it_is(keep))]
        lines += [f"({memory.id} goes)", *_marked("-", memory)]
    else:
        lines = _several(proposal, touched)
    return "\n".join(line for line in lines if line)


def _new(memory: Memory, touched: Mapping[str, Memory | None], payload: Mapping[str, Any]) -> list[str]:
    lines = [f"+title: {memory.title}"] if memory.title else []
    lines.append(text_diff(None, memory))
    lines += [f"+next: {step}" for step in memory.attrs.get("next_steps", ())]
    for ref in payload.get("supersedes", ()):
        old = touched.get(ref)
        lines.append(f"(replaces {ref})")
        lines += [] if old is None else _marked("-", old)
    return lines


def _edited(memory: Memory, payload: Mapping[str, Any]) -> list[str]:
    fields = dict(payload.get("fields") or {})
    content = payload.get("content")
    lines = [] if "title" in fields else _titled(" ", memory)
    lines += _texts(memory, memory.text if content is None else content)
    for name, value in fields.items():
        lines += [f"-{name}: {getattr(memory, name, '')}", f"+{name}: {value}"]
    return lines


def _restored(tx: Tx, memory: Memory, version: int | None) -> list[str]:
    try:
        target = earlier(tx, memory, version)
    except DolmenError as error:
        return [*_as_it_is(memory), f"({error.message})"]
    names = changed_fields(memory, target)
    lines = [] if "title" in names else _titled(" ", memory)
    lines += _texts(memory, target.text)
    for name in names:
        lines += [f"-{name}: {getattr(memory, name)}", f"+{name}: {getattr(target, name)}"]
    return lines


def _several(proposal: Proposal, touched: Mapping[str, Memory | None]) -> list[str]:
    refs: Sequence[str] = proposal.payload.get("refs", ())
    lines: list[str] = []
    for ref in refs:
        memory = touched.get(ref)
        if len(refs) > 1:
            lines.append(f"{ref}:")
        if memory is None:
            lines.append("(not here any more)")
        elif proposal.op == "verify":
            lines += _as_it_is(memory)
            lines += [f"-verification: {memory.verification}", f"+verification: {proposal.payload.get('state')}"]
        else:
            lines += _marked("-", memory)
    if proposal.op == "forget":
        lines.append(f"({proposal.payload.get('mode')}: {len(refs)} memories)")
    return lines


def _texts(before: Memory, after: str) -> list[str]:
    """The whole text with what changes in it."""
    return [text_diff(before, after, CONTENT_LIMIT)] if before.text != after else _lines(" ", before.text)


def _as_it_is(memory: Memory) -> list[str]:
    return _marked(" ", memory)


def _marked(sign: str, memory: Memory) -> list[str]:
    return [*_titled(sign, memory), *_lines(sign, memory.text)]


def _titled(sign: str, memory: Memory) -> list[str]:
    return [f"{sign}title: {memory.title}"] if memory.title else []


def _lines(sign: str, text: str) -> list[str]:
    return [sign + line for line in text.splitlines()]
