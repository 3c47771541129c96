"""The lines of an export: values to JSON objects and back, every field checked on the way in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, get_args

from dolmen.domain.code import REF_STATES, CodeRef, valid_commit, valid_path, valid_symbol
from dolmen.domain.errors import DolmenError
from dolmen.domain.identity import project_of
from dolmen.domain.memory import (
    CONTENT_LIMIT,
    KINDS,
    STATUSES,
    VERIFICATIONS,
    Case,
    Link,
    Memory,
    Revision,
    Trust,
)
from dolmen.domain.note import SOURCE_LIMIT
from dolmen.domain.proposal import Proposal, ProposalOp, ProposalStatus
from dolmen.domain.text import clean
from dolmen.store.contract import Feedback

FORMAT, VERSION = "dolmen.export", 1

Line = Mapping[str, Any]

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FIX = "Correct the line or leave it out, and import again: what is here already stays as it is."
_LATEST = 2**62
MISSING = object()
"""The default of a field that must be there."""


def memory_line(memory: Memory, revisions: list[Revision]) -> dict[str, Any]:
    """A memory with its tags, its case and everything that it was before."""
    line: dict[str, Any] = {"type": "memory", **_state(memory)}
    if revisions:
        line["revisions"] = [_plain(revision) | {"memory": _state(revision.memory)} for revision in revisions]
    return line


def _state(memory: Memory) -> dict[str, Any]:
    """A memory's fields; those of a block of a note only for one, the audience where it is not everybody."""
    return {name: item for name, item in _plain(memory).items() if item or name not in ("note", "block", "audience")}


def _plain(value: Any) -> dict[str, Any]:
    """A value's fields as JSON, without the vault: an export may go to any."""
    return {name: item for name, item in asdict(value).items() if name != "vault"}


def link_line(link: Link) -> dict[str, Any]:
    return {"type": "link", **_plain(link)}


def proposal_line(proposal: Proposal) -> dict[str, Any]:
    return {"type": "proposal", **_plain(proposal)}


def code_ref_line(ref: CodeRef) -> dict[str, Any]:
    return {"type": "code_ref", **_plain(ref)}


def feedback_line(entry: Feedback) -> dict[str, Any]:
    return {"type": "feedback", **_plain(entry)}


# ------------------------------------------------------------------------------------------------------------- reading
class Reader:
    """Takes the fields of one object, each once; what is left over at the end is refused."""

    def __init__(self, line: object, what: str) -> None:
        if not isinstance(line, dict):
            raise bad(f"The {what} is no JSON object.")
        self._line = dict(line)
        self._what = what

    def _take(self, name: str, default: object) -> Any:
        if name in self._line:
            return self._line.pop(name)
        if default is MISSING:
            raise bad(f"The {self._what} has no {name!r}.")
        return default

    def has(self, name: str) -> bool:
        return name in self._line

    def text(self, name: str, default: object = "", *, limit: int = CONTENT_LIMIT) -> str:
        value = self._take(name, default)
        if not isinstance(value, str):
            raise self.wrong(name, "a text")
        if len(value) > limit:
            raise DolmenError("too-large", f"{name} has {len(value)} characters, more than {limit}.", _FIX)
        return clean(value)[0]

    def maybe_text(self, name: str) -> str | None:
        return None if self._line.get(name) is None and self._take(name, None) is None else self.text(name)

    def id(self, name: str, default: object = MISSING) -> str:
        value = self.text(name, default).lower()
        if not _ID.fullmatch(value):
            raise self.wrong(name, "an id")
        return value

    def maybe_id(self, name: str) -> str | None:
        return None if self._line.get(name) is None and self._take(name, None) is None else self.id(name)

    def choice(self, name: str, choices: tuple[str, ...], default: object = MISSING) -> Any:
        value = self._take(name, default)
        if value not in choices:
            raise self.wrong(name, f"one of {', '.join(choices)}")
        return value

    def whole(self, name: str, default: object = 0) -> int:
        value = self._take(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _LATEST:
            raise self.wrong(name, "a whole number from 0")
        return value

    def maybe_whole(self, name: str) -> int | None:
        return None if self._line.get(name) is None and self._take(name, None) is None else self.whole(name)

    def share(self, name: str, default: float) -> float:
        value = self._take(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise self.wrong(name, "a number from 0 to 1")
        return float(value)

    def flag(self, name: str) -> bool:
        value = self._take(name, False)
        if not isinstance(value, bool):
            raise self.wrong(name, "true or false")
        return value

    def maybe_flag(self, name: str) -> bool | None:
        return None if self._line.get(name) is None and self._take(name, None) is None else self.flag(name)

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._take(name, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.wrong(name, "a list of texts")
        return tuple(clean(item)[0] for item in value)

    def object(self, name: str) -> dict[str, Any]:
        value = self._take(name, {})
        if not isinstance(value, dict):
            raise self.wrong(name, "an object")
        return value

    def objects(self, name: str) -> list[Any]:
        value = self._take(name, [])
        if not isinstance(value, list):
            raise self.wrong(name, "a list")
        return value

    def part(self, name: str) -> Any:
        return self._take(name, None)

    def end(self) -> None:
        """Refuses fields that nobody asked for: dropping them in silence would lose what they say."""
        if self._line:
            raise bad(f"The {self._what} has an unknown field {sorted(self._line)[0]!r}.")

    def wrong(self, name: str, rule: str) -> DolmenError:
        return bad(f"{name} of the {self._what} is not {rule}.")


def memory_of(line: object, vault: str, what: str = "memory") -> tuple[Memory, list[Revision]]:
    """The memory and its revisions in a line.

    Raises:
        DolmenError: `invalid-argument` or `too-large`, naming the field.
    """
    read = Reader(line, what)
    read.part("type")
    revisions = [_revision(each, vault) for each in read.objects("revisions")]
    memory = Memory(
        id=read.id("id"),
        vault=vault,
        scope=_scope(read.text("scope", MISSING)),
        kind=read.choice("kind", KINDS),
        text=read.text("text", MISSING, limit=SOURCE_LIMIT if read.has("note") else CONTENT_LIMIT),
        status=read.choice("status", STATUSES, "active"),
        trust=read.choice("trust", get_args(Trust), "agent"),
        verification=read.choice("verification", VERIFICATIONS, "accepted"),
        label=read.text("label"),
        title=read.text("title"),
        folder=read.text("folder"),
        tags=read.texts("tags"),
        importance=read.share("importance", 0.5),
        pinned=read.flag("pinned"),
        agent=read.text("agent", "unknown"),
        person=read.text("person"),
        connection=read.text("connection", "local"),
        session=read.text("session"),
        source=read.text("source"),
        case=_case(read.part("case")),
        attrs=read.object("attrs"),
        created_at=read.whole("created_at"),
        updated_at=read.whole("updated_at"),
        expires_at=read.maybe_whole("expires_at"),
        supersedes=read.maybe_text("supersedes"),
        superseded_by=read.maybe_text("superseded_by"),
        verified_by=read.text("verified_by"),
        note=read.id("note") if read.has("note") else "",
        block=read.text("block"),
        audience=read.text("audience"),
        version=read.whole("version", 1),
    )
    read.end()
    if not memory.text.strip():
        raise read.wrong("text", "a statement")
    numbers = [revision.memory.version for revision in revisions]
    if any(revision.memory.id != memory.id for revision in revisions):
        raise bad("A revision belongs to another memory.")
    if [*numbers, memory.version] != sorted({*numbers, memory.version}) or memory.version < 1:
        raise bad("The versions of the revisions are not in order.")
    return memory, revisions


def _revision(line: object, vault: str) -> Revision:
    read = Reader(line, "revision")
    state, _ = memory_of(read.part("memory"), vault, "revision's memory")
    revision = Revision(
        memory=state,
        at=read.whole("at", MISSING),
        op=read.text("op", MISSING),
        agent=read.text("agent"),
        person=read.text("person"),
        connection=read.text("connection"),
        reason=read.text("reason"),
    )
    read.end()
    return revision


def _case(line: object) -> Case | None:
    if line is None:
        return None
    read = Reader(line, "case")
    case = Case(*(read.text(field.name, MISSING if field.name == "id" else "") for field in fields(Case)))
    read.end()
    return case


def _scope(scope: str) -> str:
    project_of(scope)
    return scope


def link_of(line: object) -> Link:
    """Raises DolmenError `invalid-argument`, naming the field; so do the functions below."""
    read = Reader(line, "link")
    read.part("type")
    link = Link(
        source=read.id("source"),
        rel=read.text("rel", MISSING),
        target=read.text("target", MISSING),
        weight=read.share("weight", 1.0),
        created_at=read.whole("created_at"),
        agent=read.text("agent"),
    )
    read.end()
    return link


def code_ref_of(line: object) -> CodeRef:
    read = Reader(line, "reference")
    read.part("type")
    ref = CodeRef(
        memory=read.id("memory"),
        statement=read.text("statement"),
        path=read.text("path"),
        symbol=read.text("symbol"),
        position=read.whole("position"),
        state=read.choice("state", REF_STATES, "pending"),
        anchor_commit=read.text("anchor_commit"),
        anchor_hash=read.text("anchor_hash"),
        resolved_path=read.text("resolved_path"),
        checked_commit=read.text("checked_commit"),
        checked_at=read.maybe_whole("checked_at"),
    )
    read.end()
    if not (ref.path or ref.symbol) or (ref.path and not valid_path(ref.path)):
        raise read.wrong("path", "a path inside a repository")
    if ref.symbol and not valid_symbol(ref.symbol):
        raise read.wrong("symbol", "an identifier")
    if bool(ref.anchor_commit) != bool(ref.anchor_hash) or (ref.anchor_commit and not valid_commit(ref.anchor_commit)):
        raise read.wrong("anchor_commit", "a commit id beside its anchor_hash")
    return ref


def proposal_of(line: object, vault: str) -> Proposal:
    read = Reader(line, "proposal")
    read.part("type")
    proposal = Proposal(
        id=read.id("id"),
        vault=vault,
        op=read.choice("op", get_args(ProposalOp)),
        memory=read.maybe_id("memory"),
        base_version=read.maybe_whole("base_version"),
        payload=read.object("payload"),
        reason=read.text("reason"),
        because=read.text("because"),
        status=read.choice("status", get_args(ProposalStatus)),
        agent=read.text("agent"),
        person=read.text("person"),
        connection=read.text("connection"),
        created_at=read.whole("created_at"),
        decided_at=read.maybe_whole("decided_at"),
        decided_by=read.text("decided_by"),
        decision_note=read.text("decision_note"),
        note=read.maybe_id("note"),
        audience=read.text("audience"),
    )
    read.end()
    return proposal


def feedback_of(line: object, vault: str) -> Feedback:
    read = Reader(line, "feedback")
    read.part("type")
    entry = Feedback(
        id=read.id("id"),
        vault=vault,
        at=read.whole("at"),
        connection=read.text("connection"),
        agent=read.text("agent"),
        event=read.maybe_text("event"),
        refs=read.texts("refs"),
        relevant=read.maybe_flag("relevant"),
        sufficient=read.maybe_flag("sufficient"),
        reason=read.text("reason"),
    )
    read.end()
    return entry


def pair_of(line: object, what: str, first: str, second: str) -> tuple[str, str]:
    """Two texts, such as an alias and its project."""
    read = Reader(line, what)
    read.part("type")
    pair = read.text(first, MISSING), read.text(second, MISSING)
    read.end()
    return pair


def bad(message: str) -> DolmenError:
    """The refusal of a line."""
    return DolmenError("invalid-argument", message, _FIX)
