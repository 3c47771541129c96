"""docs/ARCHITECTURE.md is a map: what it names exists, and what exists is on it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOUSE = ROOT / "src" / "dolmen"
MAP = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
BUILT, _, EMPTY = MAP.partition("## Rooms whose place is decided")
EMPTY = EMPTY.partition("## Tests")[0]
FLOORS = ("domain", "store", "models", "services", "interfaces")
NAMED = re.compile(r"`([a-z_0-9]+(?:/[a-z_0-9]+)*(?:\.py|/)?)`")


def _rooms(text: str) -> set[str]:
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| ")]
    return {name.rstrip("/") for row in rows for name in NAMED.findall(row)}


def test_every_room_on_the_map_exists() -> None:
    rooms = _rooms(BUILT)
    assert len(rooms) > 40
    assert sorted(room for room in rooms if not (HOUSE / room).exists()) == []


def test_every_room_that_exists_is_on_the_map() -> None:
    rooms = _rooms(BUILT)
    built = [p for floor in FLOORS for p in (HOUSE / floor).iterdir() if not p.name.startswith("_")]
    missing = [str(p.relative_to(HOUSE)) for p in built if p.suffix in ("", ".py")]
    assert sorted(name for name in missing if name not in rooms) == []


def test_a_room_that_was_built_is_no_longer_called_empty() -> None:
    rooms = _rooms(EMPTY)
    assert rooms
    full = [room for room in rooms if (HOUSE / f"{room}.py").exists() or (HOUSE / room / "__init__.py").exists()]
    assert sorted(set(full) - {"client"}) == []
