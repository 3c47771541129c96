"""The one scope filter as SQL: every read of memories, and both engines' searches, go through `condition`.

A read of now looks at the memory row (alias `m`). A read as of a time T looks at the state that the memory had then:
the row itself if nothing changed after T, else the oldest revision with `at` > T (alias `r`, joined only then), because
a revision keeps the state from before its change. A memory written after T does not qualify.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dolmen.store.contract import Filter
from dolmen.store.mapping import element
from dolmen.store.session import Value

_PAST = """LEFT JOIN revision r ON r.vault_id = m.vault_id AND r.id = m.id AND r.version = (
    SELECT MIN(x.version) FROM revision x WHERE x.vault_id = m.vault_id AND x.id = m.id AND x.at > :f_as_of
)"""

_STALE = """EXISTS (
    SELECT 1 FROM code_ref c WHERE c.vault_id = m.vault_id AND c.memory_id = m.id AND c.statement = m.content_key
      AND (c.state = 'missing' OR (c.state = 'changed' AND c.symbol <> ''))
)"""


@dataclass(frozen=True, slots=True)
class Reach:
    """Where one read looks."""

    scopes: Sequence[int] | None
    """The numbers of the filter's scopes and of the aliases that point at them; None for the whole vault."""
    hidden: Sequence[int] = ()
    """Scopes that whoever looks must not see anything of."""

    def only(self, scope: int) -> Reach:
        """One of the scopes alone."""
        return Reach([scope], self.hidden)


@dataclass(frozen=True, slots=True)
class Condition:
    """`FROM memory m {joins} WHERE {where}` with its parameters (all named `f_…`)."""

    joins: str
    where: str
    params: dict[str, Value]
    past: bool

    def column(self, name: str) -> str:
        """A memory's column as the filter sees it: of the row, or of the state at the filter's time."""
        return _column(name, self.past)


def condition(filter: Filter, reach: Reach) -> Condition:
    """The filter over `m`.

    Args:
        filter: what may be seen.
        reach: where, by what the one who looks may see (`ScopeNumbers.reach`).
    """
    past = filter.as_of is not None
    terms = ["m.vault_id = :f_vault"]
    params: dict[str, Value] = {"f_vault": filter.vault}

    def among(column: str, key: str, values: Sequence[str] | Sequence[int]) -> None:
        terms.append(f"{_column(column, past)} IN ({_spread(params, key, values)})")

    if reach.scopes is not None:
        if reach.scopes:
            among("scope_id", "f_scope", reach.scopes)
        else:
            terms.append("0 = 1")
    if reach.hidden and (past or reach.scopes is None):
        # As of a time, too, what is hidden now stays hidden, and what was hidden then.
        unseen = _spread(params, "f_hidden", reach.hidden)
        terms += [f"{column} NOT IN ({unseen})" for column in {"m.scope_id": 0, _column("scope_id", past): 0}]
    among("status", "f_status", filter.statuses)
    if filter.kinds:
        among("kind", "f_kind", filter.kinds)
    if filter.labels:
        among("label", "f_label", filter.labels)
    for column, value in (("case_id", filter.case), ("session", filter.session)):
        if value is not None:
            terms.append(f"{_column(column, past)} = :f_{column}")
            params[f"f_{column}"] = value
    if filter.ids is not None:
        terms.append(f"m.id IN ({_spread(params, 'f_id', filter.ids)})" if filter.ids else "0 = 1")
    if filter.note is not None:
        terms.append("m.note_id = :f_note" + (" AND m.note_id <> ''" if filter.note else ""))  # its index says so
        params["f_note"] = filter.note
    _bounds(filter, terms, params)
    _folder(filter, terms, params)
    _tags(filter, terms, params)
    if filter.stale:
        terms.append(_STALE)
    return Condition(_PAST if past else "", "\n  AND ".join(terms), params, past)


def passages(filter: Filter, reach: Reach) -> Condition:
    """The filter over `passage p JOIN memory m`: only text that the memory has, or had at the filter's time."""
    found = condition(filter, reach)
    if filter.as_of is None:
        return Condition(found.joins, f"{found.where}\n  AND p.valid_to IS NULL", found.params, False)
    current = "p.valid_from <= :f_as_of AND (p.valid_to IS NULL OR p.valid_to > :f_as_of)"
    return Condition(found.joins, f"{found.where}\n  AND {current}", found.params, True)


def live_only(filter: Filter) -> bool:
    """Whether no passage can pass but the current text of active memories (`passage.live`)."""
    return filter.as_of is None and filter.statuses == ("active",)


def ordinary(filter: Filter) -> bool:
    """Whether nearly every live passage in the scopes passes: the filter asks for nothing but them."""
    asked = (filter.kinds, filter.labels, filter.tags)
    bounds = (filter.since, filter.until, filter.case, filter.session, filter.folder, filter.ids, filter.note)
    return live_only(filter) and not (filter.stale or any(asked)) and all(bound is None for bound in bounds)


def _column(name: str, past: bool) -> str:
    return f"CASE WHEN r.version IS NULL THEN m.{name} ELSE r.{name} END" if past else f"m.{name}"


def _spread(params: dict[str, Value], key: str, values: Sequence[str] | Sequence[int]) -> str:
    """Placeholders for a list; the length is rounded up to a power of two, so that few different statements arise."""
    size = 1 << (len(values) - 1).bit_length()
    names = [f"{key}_{i}" for i in range(size)]
    params.update(zip(names, [*values, *[values[-1]] * (size - len(values))]))
    return ", ".join(":" + name for name in names)


def _bounds(filter: Filter, terms: list[str], params: dict[str, Value]) -> None:
    for sign, key, value in ((">=", "f_since", filter.since), ("<", "f_until", filter.until)):
        if value is not None:
            terms.append(f"m.created_at {sign} :{key}")
            params[key] = value
    if filter.as_of is not None:
        terms.append("m.created_at <= :f_as_of")
        params["f_as_of"] = filter.as_of
    if not filter.include_expired:
        expiry = _column("expires_at", filter.as_of is not None)
        terms.append(f"({expiry} IS NULL OR {expiry} > :f_when)")
        params["f_when"] = filter.now if filter.as_of is None else filter.as_of


def _folder(filter: Filter, terms: list[str], params: dict[str, Value]) -> None:
    folder = (filter.folder or "").rstrip("/")
    if folder:
        column = _column("folder", filter.as_of is not None)
        terms.append(f"({column} = :f_folder OR substr({column}, 1, :f_folder_length) = :f_below)")
        params |= {"f_folder": folder, "f_below": folder + "/", "f_folder_length": len(folder) + 1}


def _tags(filter: Filter, terms: list[str], params: dict[str, Value]) -> None:
    for i, tag in enumerate(filter.tags):
        key = f"f_tag_{i}"
        if filter.as_of is None:
            terms.append(
                f"EXISTS (SELECT 1 FROM memory_tag t WHERE t.vault_id = m.vault_id AND t.tag = :{key}"
                " AND t.memory_id = m.id)"
            )
            params[key] = tag
        else:
            # Tags of the past are only in the JSON list, whose elements hold no comma of their own (`mapping.element`).
            listed = f"',' || substr({_column('tags', True)}, 2)"
            terms.append(f"replace({listed}, :{key}, '') <> {listed}")
            params[key] = "," + element(tag)
