"""What competes with what an answer shows: told to the reader, never decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from dolmen.domain.competing import competing
from dolmen.domain.memory import Memory
from dolmen.domain.statements import other_value, statement
from dolmen.domain.text import analyze
from dolmen.services.requests import Claim, Conflict
from dolmen.services.search import Found
from dolmen.store.contract import Filter, Tx

_COMPARED, _CONFLICTS = 12, 8
_CHAIN = 8
"""Replacements that are followed to the one that holds now."""
REPLACED = "the first was superseded by the second"


def conflicts_of(tx: Tx, sight: Filter, claims: Sequence[Claim], page: Sequence[Found]) -> list[Conflict]:
    """What competes with a shown claim, also from outside the page when it is linked as contradicting and served."""
    out: dict[tuple[str, ...], Conflict] = {}
    for found in (*_linked(tx, sight, claims), *_replaced(tx, sight, claims), *_alike(claims, page)):
        out.setdefault(tuple(sorted(found.refs)), found)
    return list(out.values())[:_CONFLICTS]


def _linked(tx: Tx, sight: Filter, claims: Sequence[Claim]) -> list[Conflict]:
    refs = {claim.ref for claim in claims}
    edges = [e for e in tx.links.around(sight.vault, sorted(refs)) if e.rel == "contradicts"] if refs else []
    others = tx.memories.many(sight.vault, [end for e in edges for end in (e.source, e.target) if end not in refs])
    served = refs | {m.id for m in others.values() if _served(sight, m)}
    return [
        Conflict((min(edge.source, edge.target), max(edge.source, edge.target)), "linked as contradicting")
        for edge in edges
        if edge.source in served and edge.target in served
    ]


def _replaced(tx: Tx, sight: Filter, claims: Sequence[Claim]) -> list[Conflict]:
    """Each superseded claim with the one that holds now, however many lie between them."""
    old = [claim for claim in claims if claim.superseded_by is not None]
    if not old:
        return []
    shown = {claim.ref for claim in claims}
    out = [Conflict((c.ref, str(c.superseded_by)), REPLACED) for c in old if c.superseded_by in shown]
    known: dict[str, Memory] = {}
    at = {claim.ref: str(claim.superseded_by) for claim in old if claim.superseded_by not in shown}
    for _ in range(_CHAIN):
        known |= tx.memories.many(sight.vault, [ref for ref in at.values() if ref not in known])
        following = {c: known[ref].superseded_by for c, ref in at.items() if ref in known}
        moved = {c: ref for c, ref in following.items() if ref is not None}
        if not moved:
            break
        at |= moved
    return out + [Conflict((c, ref), REPLACED) for c, ref in at.items() if _holds(sight, known, ref)]


def _holds(sight: Filter, known: Mapping[str, Memory], ref: str) -> bool:
    return ref in known and _served(sight, known[ref])


def _served(sight: Filter, memory: Memory) -> bool:
    return memory.served(sight.now) and (sight.scopes is None or memory.scope in sight.scopes)


def _alike(claims: Sequence[Claim], page: Sequence[Found]) -> list[Conflict]:
    """Claims that say nearly the same, but for a number, a negation or the value."""
    indexed = {found.memory: found.tokens for found in page}
    compared = claims[:_COMPARED]
    # To analyze every claim again where the search has read its tokens would take a tenth of a recall.
    tokens = [(c.ref, c.text, indexed[c.ref] or " ".join(analyze(c.text))) for c in compared]
    out = [Conflict((a, b), why) for a, b, why in competing(tokens)]
    said = [(claim.ref, statement(claim.text)) for claim in compared if claim.superseded_by is None]
    out += [
        Conflict((a, b), "different values") for (a, one), (b, two) in combinations(said, 2) if other_value(one, two)
    ]
    return out
