"""Reading an export in: line by line, again and again without harm, each bad line named."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dolmen.domain.access import require
from dolmen.domain.errors import DolmenError
from dolmen.domain.identity import project_of
from dolmen.domain.memory import Link, Memory, Revision
from dolmen.domain.text import content_key
from dolmen.domain.values import Actor
from dolmen.services.code.catching_up import DONE as CODE_REFS_READ
from dolmen.services.code.following import remark
from dolmen.services.rebuilding import rebuild
from dolmen.services.recording import audit, refuse_secrets, revise, strings
from dolmen.services.runtime import Runtime
from dolmen.services.sharing import audience_here
from dolmen.services.transfer import kenfold, lines
from dolmen.services.transfer.lines import FORMAT, VERSION
from dolmen.services.transfer.notes import take_note
from dolmen.services.upkeep import OWN_SETTINGS
from dolmen.store.contract import Tx

BATCH = 100
"""Lines between two commits."""
LISTED = 100
"""Refused lines that the report names; all are counted."""
LINE_LIMIT = 64 * 1024 * 1024
_SERVED = ("active", "proposed")

Progress = Callable[[int], None]
"""Called with the number of lines read so far."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A line that was left out."""

    line: int
    """Counted from 1, as editors do."""
    code: str
    message: str


@dataclass(slots=True)
class ImportReport:
    """What became of the lines, by type."""

    dry_run: bool = False
    imported: Counter[str] = field(default_factory=Counter)
    """Written now; for a dry run, what would be."""
    present: Counter[str] = field(default_factory=Counter)
    """Here already, and left as it is."""
    same_words: int = 0
    """Of `present`: memories that are here under another id; links and proposals of theirs lead to that one."""
    refused: list[Refused] = field(default_factory=list)
    refusals: int = 0
    lines: int = 0
    complete: bool = False
    """The file's last line was there, and its counts agree."""


class _DryRun(Exception):
    """Rolls a batch back."""


def import_(
    rt: Runtime,
    actor: Actor,
    source: Iterable[str],
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Adds what an export holds and what is not here yet, with its ids, times and history.

    A bad line, or one that holds a secret, is left out and named; the others are imported. Each hundred lines are
    committed, and what is here already is passed over, so an import that was broken off is simply started again.

    Raises:
        DolmenError: `invalid-argument` for a source whose first line is not that of an export, or of a newer version.
    """
    require(actor, "admin")
    run = _Run(actor, ImportReport(dry_run=dry_run))
    for batch in _batches(_lines(_objects(source, run.report))):
        try:
            with rt.store.write() as tx:
                for number, line in batch:
                    run.take(tx, number, line)
                if dry_run:
                    raise _DryRun
        except _DryRun:
            pass
        if progress:
            progress(run.report.lines)
    if not dry_run:
        with rt.store.write() as tx:
            audit(tx, actor, "import", f"{run.report.imported['memory']} memories")
            tx.accounts.set(actor.vault, CODE_REFS_READ, "")  # an older export has no references: upkeep reads them
    return run.report


def _objects(source: Iterable[str], report: ImportReport) -> Iterator[tuple[int, Any]]:
    """(line number, parsed line); a line that is no JSON comes as the error that says so."""
    for number, text in enumerate(source, 1):
        report.lines = number
        if not text.strip():
            continue
        try:
            if len(text) > LINE_LIMIT:
                raise ValueError("it is too long")
            yield number, json.loads(text.removeprefix("\ufeff"), parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            yield number, DolmenError("invalid-argument", f"The line is no JSON: {error}.", "Correct it.")


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _lines(numbered: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """The lines after the header, in this program's own format whatever the file's is."""
    _, header = next(numbered, (1, None))
    if kenfold.is_archive(header):
        return kenfold.translated(numbered)
    _check_header(header)
    return numbered


def _check_header(header: object) -> None:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise DolmenError(
            "invalid-argument",
            "This is no export of Dolmen or Kenfold: its first line does not say so.",
            "Choose a file that `dolmen export` or `kenfold export` wrote, complete from its first line.",
        )
    if header.get("version") != VERSION:
        raise DolmenError(
            "invalid-argument",
            f"The export has version {header.get('version')!r}; this program reads version {VERSION}.",
            "Update Dolmen, then import again.",
        )


def _batches(numbered: Iterable[tuple[int, Any]]) -> Iterator[Sequence[tuple[int, Any]]]:
    batch: list[tuple[int, Any]] = []
    for each in numbered:
        batch.append(each)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


class _Run:
    """One import: what it has met so far."""

    def __init__(self, actor: Actor, report: ImportReport) -> None:
        self._actor = actor
        self.report = report
        self._elsewhere: dict[str, str] = {}
        """Ids of the file whose statement is here under another id."""
        self._seen: Counter[str] = Counter()
        self._homes: dict[str, str] = {}
        """Ids of notes of the file that are here under another id."""
        self._new: set[str] = set()
        """Memories and notes that a dry run would have written; later lines may name them."""

    def take(self, tx: Tx, number: int, line: Any) -> None:
        try:
            if isinstance(line, DolmenError):
                raise line
            if not isinstance(line, dict):
                raise DolmenError("invalid-argument", "The line is no JSON object.", "Leave it out.")
            self._one(tx, line)
        except DolmenError as error:
            if error.code in ("store-busy", "unavailable", "internal", "conflict"):
                raise
            self.report.refusals += 1
            if len(self.report.refused) < LISTED:
                self.report.refused.append(Refused(number, error.code, error.message))

    def _one(self, tx: Tx, line: Mapping[str, Any]) -> None:
        kind = line.get("type")
        if kind == "end":
            self.report.complete = line.get("counts") == dict(self._seen)
            return
        take = _TAKE.get(str(kind))
        if take is None:
            raise DolmenError("invalid-argument", f"There is no type {kind!r}.", "Leave the line out.")
        self._seen[str(kind)] += 1
        added = take(self, tx, line)
        (self.report.imported if added else self.report.present)[str(kind)] += 1

    def memory(self, tx: Tx, line: Mapping[str, Any]) -> bool:
        memory, revisions = lines.memory_of(line, self._actor.vault)
        for state in (memory, *(revision.memory for revision in revisions)):
            _refuse_memory_secrets(state)
        refuse_secrets(*(revision.reason for revision in revisions))
        memory, revisions = self._audienced(tx, memory, revisions)
        key = content_key(memory.text)
        if tx.memories.get(memory.vault, memory.id) is not None:
            return False
        if memory.note:
            return self._block(tx, memory, revisions, key)
        if memory.status in _SERVED:
            twin = tx.memories.by_content(memory.vault, memory.scope, memory.label, memory.kind, key, memory.audience)
            if twin is not None and twin.expires_at is not None and twin.expires_at <= tx.now:
                revise(tx, self._actor, twin, "expire", status="deleted")
            elif twin is not None:
                self._elsewhere[memory.id] = twin.id
                self.report.same_words += 1
                return False
        memory = self._here(memory)
        if not tx.memories.restore(memory, revisions, key):
            return False
        rebuild(tx, memory, revisions)
        self._new.add(memory.id)
        return True

    def note(self, tx: Tx, line: Mapping[str, Any]) -> bool:
        id = take_note(tx, self._actor, line, self._homes)
        if id is not None:
            self._new.add(id)
        return id is not None

    def _block(self, tx: Tx, memory: Memory, revisions: Sequence[Revision], key: str) -> bool:
        """A block goes with its note: into the one of the file, or it is what the one that is here says already."""
        home = self._homes.get(memory.note)
        if home is not None:
            here = [m for m in tx.memories.blocks(memory.vault, home) if m.block == memory.block]
            if here:
                self._elsewhere[memory.id] = here[0].id
            return False
        if tx.notes.get(memory.vault, memory.note) is None and memory.note not in self._new:
            raise DolmenError("not-found", f"The note of the block {memory.id} is not here.", "Import the note first.")
        if not tx.memories.restore(self._here(memory), revisions, key):
            return False
        rebuild(tx, memory, revisions)
        self._new.add(memory.id)
        return True

    def _audienced(self, tx: Tx, memory: Memory, revisions: Sequence[Revision]) -> tuple[Memory, list[Revision]]:
        """With the audience that theirs is here."""

        def here(state: Memory) -> Memory:
            return state.with_(audience=audience_here(tx, self._actor, state.audience))

        return here(memory), [replace(revision, memory=here(revision.memory)) for revision in revisions]

    def _here(self, memory: Memory) -> Memory:
        """With the ids that its relatives have here."""
        return replace(
            memory,
            supersedes=self._elsewhere.get(memory.supersedes or "", memory.supersedes),
            superseded_by=self._elsewhere.get(memory.superseded_by or "", memory.superseded_by),
        )

    def link(self, tx: Tx, line: Mapping[str, Any]) -> bool:
        link = lines.link_of(line)
        source = self._elsewhere.get(link.source, link.source)
        target = self._elsewhere.get(link.target, link.target)
        if tx.memories.get(self._actor.vault, source) is None:
            if source in self._new:  # a dry run has rolled it back
                return True
            raise DolmenError("not-found", f"The link's source {link.source} is not here.", "Import its memory first.")
        if any(_same(link, each, source, target) for each in tx.links.around(self._actor.vault, [source])):
            return False
        return tx.links.add(self._actor.vault, replace(link, source=source, target=target))

    def code_ref(self, tx: Tx, line: Mapping[str, Any]) -> bool:
        """What a memory mentions, with its anchor. One without a statement belongs to the memory's present text."""
        ref = lines.code_ref_of(line)
        refuse_secrets(ref.path, ref.symbol)
        id = self._elsewhere.get(ref.memory, ref.memory)
        memory = tx.memories.get(self._actor.vault, id)
        if memory is None:
            if id in self._new:  # a dry run has rolled it back
                return True
            raise DolmenError("not-found", f"The memory {ref.memory} of the reference is not here.", "Import it first.")
        statement = ref.statement or content_key(memory.text)
        position = ref.position if ref.statement else len(tx.code_refs.of_text(memory.vault, id, statement))
        added = tx.code_refs.add(memory.vault, [replace(ref, memory=id, statement=statement, position=position)])
        if added:
            remark(tx, memory.vault, [id])
        return added > 0

    def proposal(self, tx: Tx, line: Mapping[str, Any]) -> bool:
        proposal = lines.proposal_of(line, self._actor.vault)
        refuse_secrets(proposal.reason, proposal.decision_note, *strings(proposal.payload))
        if tx.proposals.get(self._actor.vault, proposal.id) is not None:
            return False
        memory = self._elsewhere.get(proposal.memory or "", proposal.memory)
        if memory in self._new and tx.memories.get(self._actor.vault, memory) is None:  # a dry run has rolled it back
            return True
        note = self._homes.get(proposal.note or "", proposal.note)
        if note in self._new and tx.notes.get(self._actor.vault, note) is None:
            return True
        audience = audience_here(tx, self._actor, proposal.audience)
        payload = self._ids_here(proposal.payload)
        tx.proposals.add(replace(proposal, memory=memory, note=note, audience=audience, payload=payload))
        return True

    def _ids_here(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """With the ids that the memories have here which a proposal speaks of besides its own."""
        found = dict(payload)
        for name in {"by", "to", "refs", "supersedes"} & found.keys():
            told = found[name]
            if isinstance(told, str):
                found[name] = self._elsewhere.get(told, told)
            elif isinstance(told, list):
                found[name] = [self._elsewhere.get(each, each) if isinstance(each, str) else each for each in told]
        return found

    def feedback(self, tx: Tx, line: Mapping[str, Any]) -> bool:
        entry = lines.feedback_of(line, self._actor.vault)
        refuse_secrets(entry.reason)
        before = {each.id for each in tx.journal.feedbacks(self._actor.vault)} if self._known is None else self._known
        self._known = before
        if entry.id in before:
            return False
        tx.journal.feedback(replace(entry, refs=tuple(self._elsewhere.get(ref, ref) for ref in entry.refs)))
        before.add(entry.id)
        return True

    _known: set[str] | None = None

    def alias(self, tx: Tx, line: Mapping[str, Any]) -> bool:
        old, new = lines.pair_of(line, "alias", "old", "new")
        project_of(old)
        project_of(new)
        if tx.scopes.resolve(self._actor.vault, old) != old or tx.scopes.resolve(self._actor.vault, new) == old:
            return False
        tx.scopes.alias(self._actor.vault, old, new)
        return True

    def setting(self, tx: Tx, line: Mapping[str, Any]) -> bool:
        key, value = lines.pair_of(line, "setting", "key", "value")
        refuse_secrets(value)
        if key.startswith(OWN_SETTINGS) or tx.accounts.setting(self._actor.vault, key) is not None:
            return False
        tx.accounts.set(self._actor.vault, key, value)
        return True


_TAKE: Mapping[str, Callable[[_Run, Tx, Mapping[str, Any]], bool]] = {
    "alias": _Run.alias,
    "note": _Run.note,
    "memory": _Run.memory,
    "link": _Run.link,
    "code_ref": _Run.code_ref,
    "proposal": _Run.proposal,
    "feedback": _Run.feedback,
    "setting": _Run.setting,
}


def _same(link: Link, other: Link, source: str, target: str) -> bool:
    return (other.source, other.rel, other.target) == (source, link.rel, target)


def _refuse_memory_secrets(memory: Memory) -> None:
    refuse_secrets(
        memory.text, memory.title, memory.source, memory.folder, memory.label, *memory.tags,
        *strings(memory.case), *strings(memory.attrs),
    )  # fmt: skip
