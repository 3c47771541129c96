"""Fresh stores on either engine for a measurement, and what the database itself takes."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench.process import tree_cpu_seconds

EngineName = Literal["sqlite", "postgres"]
ENGINES: tuple[EngineName, ...] = ("sqlite", "postgres")


@dataclass(frozen=True, slots=True)
class Engine:
    name: EngineName
    new: Callable[[], str]
    """The URL of a fresh, empty store."""
    drop: Callable[[str], None]
    """Deletes a store again."""
    cpu: Callable[[], float]
    """Seconds of processor time that processes of the database have used; 0 for the embedded engine, which has none."""


@contextmanager
def opened(name: EngineName, *, durable: bool = True) -> Iterator[Engine]:
    """An engine. DURABLE: PostgreSQL waits for the disk, as it does in a real installation."""
    if name == "sqlite":
        with tempfile.TemporaryDirectory(prefix="dolmen-bench-") as folder:
            yield _sqlite(Path(folder))
        return
    from tests.postgres import private_server

    with private_server(durable=durable) as server:
        main = int((server.folder / "data" / "postmaster.pid").read_text().split()[0])
        yield Engine("postgres", server.create_database, server.drop_database, lambda: tree_cpu_seconds(main))


def _sqlite(folder: Path) -> Engine:
    numbers = itertools.count()

    def drop(url: str) -> None:
        for path in folder.glob(f"{Path(url.removeprefix('sqlite:///')).name}*"):
            path.unlink()

    return Engine("sqlite", lambda: f"sqlite:///{folder}/store{next(numbers)}.db", drop, lambda: 0.0)
