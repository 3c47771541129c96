"""Answers whose every claim can be checked: where it stands, in which version, who says so, and how fresh it is
(C-74, C-189, C-190)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dolmen.domain.freshness import freshness
from dolmen.domain.memory import Kind, Memory
from dolmen.domain.note import Note, address, folder_of
from dolmen.domain.packing import clamp, pack, taken_as
from dolmen.domain.values import Actor
from dolmen.services.notes.finding import resolve
from dolmen.services.notes.settling import standing_of
from dolmen.services.policy import policy_in
from dolmen.services.recall import LIMIT, UNSURE, recall
from dolmen.services.recording import sha
from dolmen.services.requests import Claim, Conflict, Pack, Recall
from dolmen.services.runtime import Runtime
from dolmen.store.contract import Tx

NOTHING = "Nothing here answers this."
_NEAR = "No sure answer: what follows is only near the question."
_LIFT = 0.02
"""How much worse the words of a fresh statement may answer than those of one that has long gone stale."""
_BAND = 0.05
"""Scores that lie no further apart count as equally good: there the marks of those who checked decide."""
_SURE = 0.5
"""The score that a claim needs where the question names something that nothing mentions."""
_RANK = {"verified": 3, "accepted": 2, "unverified": 1, "stale": 0, "rejected": 0}
_RELATED = 5
_LEAST = 40
"""Characters that are left of a claim that is cut down."""
_PERSONS = ("cli", "web", "mirror")
"""Under which names persons write: at the command line, in the browser, and in files that are mirrored."""
_VERSION = 12


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """One claim with what a reader needs to check it."""

    ref: str
    """The address of its block, or the id of a memory of its own."""
    note: str
    """The permalink of its note; empty for a memory of its own."""
    kind: Kind
    label: str
    """The word that its writer used; empty where that is the kind."""
    heading: str
    text: str
    version: str
    """The first twelve hex digits of the note's sha: tells that a cited note moved (C-134)."""
    status: str
    updated_at: int
    human: bool
    author: str
    created_at: int
    state: str
    """The mark of somebody who checked; empty where nobody reads marks."""
    freshness: float
    score: float
    related: tuple[str, ...] = ()
    """Addresses of notes that its note leads to, and of blocks that say the same."""
    cut: bool = False
    """The text is a part of it: the whole is read by its ref."""


@dataclass(frozen=True, slots=True)
class ContextPack:
    query: str
    claims: tuple[CheckedClaim, ...]
    conflicts: tuple[Conflict, ...]
    """Between addresses."""
    gaps: tuple[str, ...]
    """What is missing, in sentences; never empty when there is no claim."""
    embedding_coverage: float | None
    """None without a model."""
    lag_seconds: int
    requested: int
    used: int
    """Tokens of the claims."""
    report: int
    """Tokens of conflicts and gaps, which `used` does not hold."""
    dropped: int
    partial: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prices:
    """What the parts of an answer cost in tokens, as its door writes them."""

    claim: Callable[[CheckedClaim], int]
    report: Callable[[Sequence[Conflict], Sequence[str]], int]


def context_pack(rt: Runtime, actor: Actor, request: Recall, prices: Prices) -> ContextPack:
    """What memory holds about a question, packed into the request's budget by what it costs at this door.

    Raises:
        DolmenError: as `recall`.
    """
    asked = request.budget_tokens or 0
    found = recall(rt, actor, replace(request, budget_tokens=None, limit=LIMIT))
    with rt.read(actor) as tx:
        verification = policy_in(tx, actor.vault).verification
        ranked = sorted(found.claims, key=lambda claim: _order(claim, tx.now, verification))
        work = _Checking(tx, actor.vault, verification)
        budget = clamp(asked)
        checked = work.claims(ranked)
        fitting = len(pack(checked, prices.claim, budget).kept)
        claims = work.led(checked[:fitting] if fitting else checked)  # where a line leads makes no claim cheaper
        conflicts = work.conflicts(found.conflicts)
    packed = pack(claims, prices.claim, budget)
    if claims and not packed.kept:
        packed = pack([_squeezed(claims[0], prices, budget), *claims[1:]], prices.claim, budget)
    shown = {claim.ref for claim in packed.kept}
    kept = [each for each in conflicts if shown.intersection(each.refs)]
    gaps = _gaps(found)
    health = found.index_health
    dropped = len(checked) - len(packed.kept) + found.budget.dropped
    return ContextPack(
        query=found.query,
        claims=packed.kept,
        conflicts=tuple(kept),
        gaps=gaps,
        embedding_coverage=health.get("embedding_coverage"),
        lag_seconds=health.get("lag_seconds", 0),
        requested=asked,
        used=packed.used,
        report=prices.report(kept, gaps) if kept or gaps else 0,
        dropped=dropped,
        partial=found.partial or dropped > 0,
        notes=(*(note for note in found.notes if note != UNSURE), *taken_as(asked, budget)),
    )


def _squeezed(claim: CheckedClaim, prices: Prices, budget: int) -> CheckedClaim:
    """The first claim cut down to the budget: an answer without claims would read as if nothing were known."""
    cut = claim
    if prices.claim(cut) > budget:
        cut = replace(cut, related=())
    while prices.claim(cut) > budget and len(cut.text) > _LEAST:
        cut = replace(cut, text=cut.text[: len(cut.text) * 2 // 3], cut=True)
    return cut


def _order(claim: Claim, now: int, verification: bool) -> tuple[float, ...]:
    """Best first, before all others what has the identifier that was asked for. Of those that answer nearly as well,
    what somebody checked comes first where marks count (C-145); what can rather be expected to hold still is lifted a
    little (C-176)."""
    memory = claim.memory
    fresh = 1.0 if memory is None else freshness(memory.kind, now - memory.updated_at)
    lifted = claim.score + _LIFT * round(fresh, 1)
    checked = _RANK.get(claim.verification, 2) if verification else 0
    band = lifted // _BAND if verification else 0
    return (not claim.exact, -band, -checked, -round(lifted, 4), -claim.created_at)


def _gaps(found: Pack) -> tuple[str, ...]:
    """C-190: said, never filled."""
    missing = [f"Nothing here mentions {word}." for word in found.gaps]
    if not found.claims:
        return (NOTHING, *missing)
    best = max(claim.score for claim in found.claims)
    unsure = all(claim.weak for claim in found.claims) or (bool(missing) and best < _SURE)
    return (_NEAR, *missing) if unsure else tuple(missing)


@dataclass(slots=True)
class _Checking:
    """Claims with where they stand: their notes are read once each."""

    tx: Tx
    vault: str
    verification: bool
    _homes: dict[str, Note] = field(default_factory=dict)
    """The notes of the claims, by permalink."""

    def claims(self, found: Sequence[Claim]) -> list[CheckedClaim]:
        """With their copies as all that is related so far."""
        tx = self.tx
        memories = [claim.memory for claim in found if claim.memory is not None]
        homes = tx.notes.many(self.vault, list({m.note for m in memories if m.note}))
        self._homes |= {home.permalink: home for home in homes.values()}
        copies = self._addresses([ref for claim in found for ref in claim.also])
        names = {m.person: self._name(m.person) for m in memories}
        return [self._claim(claim, claim.memory, homes, copies, names) for claim in found if claim.memory is not None]

    def _claim(
        self,
        claim: Claim,
        memory: Memory,
        homes: Mapping[str, Note],
        copies: Mapping[str, str],
        names: Mapping[str, str],
    ) -> CheckedClaim:
        home = homes.get(memory.note)
        human = is_human(memory)
        also = tuple(copies[ref] for ref in claim.also if ref in copies)
        return CheckedClaim(
            ref=memory.id if home is None else address(home.permalink, memory.block),
            note="" if home is None else home.permalink,
            kind=memory.kind,
            label=memory.label,
            heading=str(memory.attrs.get("heading", "")),
            text=claim.text,
            version=(sha(memory) if home is None else home.sha)[:_VERSION],
            status="current" if memory.status == "active" else memory.status,
            updated_at=memory.updated_at,
            human=human,
            author=names[memory.person] if human else memory.agent,
            created_at=memory.created_at,
            state=state_of(memory, verification=self.verification),
            freshness=round(freshness(memory.kind, self.tx.now - memory.updated_at), 2),
            score=claim.score,
            related=also[:_RELATED],
            cut=claim.span is not None,
        )

    def _name(self, person: str) -> str:
        found = self.tx.people.get(self.vault, person)
        return person if found is None else found.name

    def led(self, claims: Sequence[CheckedClaim]) -> list[CheckedClaim]:
        """The claims with where the lines of their notes lead."""
        leads = self._leads([self._homes[name] for name in dict.fromkeys(claim.note for claim in claims if claim.note)])
        return [
            replace(claim, related=(*claim.related, *leads[claim.note])[:_RELATED]) if claim.note else claim
            for claim in claims
        ]

    def _leads(self, notes: Sequence[Note]) -> dict[str, tuple[str, ...]]:
        """Where the lines of each note lead, by its permalink, as far as something is there."""
        out: dict[str, tuple[str, ...]] = {}
        for note in notes:
            ids = {memory.id for memory in standing_of(self.tx, note).values()}
            edges = self.tx.links.around(self.vault, sorted(ids)) if ids else []
            names = list(dict.fromkeys(edge.target for edge in edges if edge.source in ids))
            found = resolve(self.tx, self.vault, names, folder_of(note.permalink)) if names else {}
            lines = [found[name] for name in names if name in found and found[name].id != note.id]
            out[note.permalink] = tuple(dict.fromkeys(address(line.permalink) for line in lines))
        return out

    def conflicts(self, found: Sequence[Conflict]) -> list[Conflict]:
        where = self._addresses([ref for each in found for ref in each.refs])
        return [Conflict(tuple(where.get(ref, ref) for ref in each.refs), each.why) for each in found]

    def _addresses(self, ids: Sequence[str]) -> dict[str, str]:
        """Where memories stand that are blocks of notes; the others have no address but their id."""
        if not ids:
            return {}
        memories = self.tx.memories.many(self.vault, list(dict.fromkeys(ids)))
        homes = self.tx.notes.many(self.vault, list({m.note for m in memories.values() if m.note}))
        return {id: address(homes[m.note].permalink, m.block) if m.note in homes else id for id, m in memories.items()}


def is_human(memory: Memory) -> bool:
    """Whether a person wrote it; what an agent wrote and a person confirmed is still the agent's."""
    return memory.trust == "user" and memory.agent in _PERSONS


def state_of(memory: Memory, *, verification: bool) -> str:
    """The mark that readers see: `stale` and `superseded` always, the others where the vault reads them (C-145)."""
    if memory.status == "superseded":
        return "superseded"
    marked: Any = memory.verification
    return str(marked) if verification or marked in ("stale", "rejected") else ""
