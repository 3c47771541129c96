"""Bringing a store's schema up to date: numbered `.sql` files, the same numbers on every engine, each applied once.

Safe when several processes start at once: each migration runs in one exclusive transaction of its engine, and whoever
comes second finds it done.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import Protocol

from dolmen.domain.errors import DolmenError
from dolmen.store.session import Session
from dolmen.store.sql import queries


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    script: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.script.encode()).hexdigest()


class ScriptSession(Session, Protocol):
    def script(self, text: str) -> None:
        """Runs several statements, without parameters."""


class Target(Protocol):
    """An engine, as far as migrating needs it."""

    def applied(self) -> dict[int, str]:
        """Checksums of the migrations applied, by number; empty for a new store."""

    def exclusive(self) -> AbstractContextManager[ScriptSession]:
        """A transaction that no other one of this store runs beside; waits for others for a bounded time."""


def migrations(folder: Traversable) -> list[Migration]:
    """The files `NNNN_name.sql` of a folder, by number. Raises ValueError unless they count 1, 2, 3 …."""
    found = []
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".sql"):
            number, _, name = file.name.removesuffix(".sql").partition("_")
            found.append(Migration(int(number), name, file.read_text(encoding="utf-8")))
    if [each.number for each in found] != list(range(1, len(found) + 1)):
        raise ValueError("migrations must be numbered 1, 2, 3 …")
    return found


def migrate(target: Target, known: Sequence[Migration], *, allowed: bool = True) -> int:
    """Applies what is missing; returns the number of the newest migration.

    Args:
        allowed: False refuses instead of applying.

    Raises DolmenError `store-too-new` when the store has a migration that this program does not know, or another text
    under the same number; `configuration` when something is missing and may not be applied.
    """
    applied = target.applied()
    missing = _missing(applied, known)
    if missing and not allowed:
        has = f"The store has schema {max(applied)}" if applied else "The store is empty"
        backed_up = "Back the store up, then run" if applied else "Run"
        raise DolmenError(
            "configuration",
            f"{has}, this program needs {known[-1].number}, and auto_migrate is off.",
            f"{backed_up} `dolmen migrate` once; or set DOLMEN_AUTO_MIGRATE=on.",
        )
    for migration in missing:
        with target.exclusive() as session:
            if migration in _missing(target.applied(), known):
                session.script(migration.script)
                session.run(
                    queries("schema")["record"],
                    {
                        "number": migration.number,
                        "name": migration.name,
                        "checksum": migration.checksum,
                        "now": session.now,
                    },
                )
    return known[-1].number


def _missing(applied: dict[int, str], known: Sequence[Migration]) -> list[Migration]:
    newest = max(applied, default=0)
    if newest > known[-1].number:
        raise DolmenError(
            "store-too-new",
            f"The store has schema {newest}; this program knows up to {known[-1].number}.",
            "Upgrade Dolmen to the version that last opened the store.",
        )
    for migration in known:
        if applied.get(migration.number, migration.checksum) != migration.checksum:
            raise DolmenError(
                "store-too-new",
                f"Schema {migration.number} of the store is not the one that this program has.",
                "Use the version of Dolmen that made the store, export there and import here.",
            )
    return [migration for migration in known if migration.number not in applied]
