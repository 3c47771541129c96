"""Named queries: the `.sql` files in store/queries, read once, when first asked for.

A file holds queries one after another, each introduced by its name and a line that says what it is for:

    -- name: get
    -- One memory of the vault.
    SELECT … WHERE m.vault_id = :vault AND m.id = :id;

Two things are filled in by Python, since SQL cannot: `{name}` stands for a piece of SQL (`Query.fill`), and `(:ids...)`
for a list (`Query.spread`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain, repeat
from typing import TypeVar

_HEAD = re.compile(r"^-- name: *(\w+) *$", re.MULTILINE)
T = TypeVar("T")
PARAMETER = re.compile(r"(?<![:\w]):([a-z_]\w*)")
"""A `:name` in portable SQL; what an engine with another style has to replace. `::` is not one."""


@dataclass(frozen=True, slots=True)
class Query:
    """A statement and the name under which a log or an error shows it. Hashable: an engine may cache by it."""

    name: str
    text: str

    def fill(self, **pieces: str) -> Query:
        """Puts pieces of SQL, never a caller's text, where `{name}` stands."""
        return _filled(self, tuple(pieces.items()))

    def spread(self, **lists: Sequence[int | str]) -> tuple[Query, dict[str, int | str]]:
        """Expands each `(:name...)` to as many parameters as there are values, and gives those parameters.

        Lengths are rounded up to a power of two by repeating the last value, so that few different statements arise.
        An empty list is the caller's to avoid.
        """
        params: dict[str, int | str] = {}
        sizes: list[tuple[str, int]] = []
        for name, values in lists.items():
            sizes.append((name, 1 << (len(values) - 1).bit_length()))
            params.update(zip(_names(*sizes[-1]), chain(values, repeat(values[-1]))))
        return _spread(self, tuple(sizes)), params


@lru_cache(maxsize=512)
def _filled(query: Query, pieces: tuple[tuple[str, str], ...]) -> Query:
    text = query.text
    for name, piece in pieces:
        text = text.replace("{" + name + "}", piece)
    return Query(query.name, text)


@lru_cache(maxsize=512)
def _spread(query: Query, sizes: tuple[tuple[str, int], ...]) -> Query:
    text = query.text
    for name, size in sizes:
        text = text.replace(f":{name}...", ",".join(":" + each for each in _names(name, size)))
    return Query(query.name, text)


@lru_cache(maxsize=256)
def _names(name: str, size: int) -> tuple[str, ...]:
    return tuple(f"{name}_{i}" for i in range(size))


@cache
def queries(file: str, folder: str = "queries") -> Mapping[str, Query]:
    """The queries of a file by their names.

    Args:
        file: its name without `.sql`.
        folder: below store/; an engine keeps its own queries in its own folder.
    """
    return parse(file, (files("dolmen.store") / folder / f"{file}.sql").read_text(encoding="utf-8"))


def parse(file: str, text: str) -> dict[str, Query]:
    """Splits a file of named queries; comments and the closing semicolon are dropped.

    Raises ValueError for a query without a description, twice the same name, or text before the first name.
    """
    _, *parts = heads = _HEAD.split(text)
    if "".join(line for line in heads[0].splitlines() if not line.startswith("--")).strip():
        raise ValueError(f"{file}.sql: there is SQL before the first `-- name:`")
    found: dict[str, Query] = {}
    for name, body in zip(parts[::2], parts[1::2]):
        lines = body.strip().splitlines()
        if not lines or not lines[0].startswith("-- "):
            raise ValueError(f"{file}.sql: {name} has no description")
        if name in found:
            raise ValueError(f"{file}.sql: {name} is there twice")
        sql = "\n".join(line for line in lines if not line.lstrip().startswith("--"))
        found[name] = Query(f"{file}.{name}", sql.strip().rstrip(";"))
    return found


def chunks(values: Sequence[T], size: int = 256) -> list[Sequence[T]]:
    """The values in runs of at most `size`, so that a statement stays within every engine's number of parameters."""
    return [values[start : start + size] for start in range(0, len(values), size)]


def doubling(values: Sequence[T], first: int) -> Iterator[Sequence[T]]:
    """The values in runs, each twice as long as the one before: for looking until enough is found."""
    start, size = 0, max(first, 1)
    while start < len(values):
        yield values[start : start + size]
        start, size = start + size, size * 2
