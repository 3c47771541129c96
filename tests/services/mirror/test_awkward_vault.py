"""A vault of notes as people, editors and accidents write them goes in and comes out without a changed byte."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.markdown.documents import FRAGMENTS, FRONT, GAPS
from tests.services.mirror.conftest import Pair

NOTES = 320
NAMES = (
    "Daily/2026-09-27", "프로젝트/배포 절차", "日記/九月", "Ideen & Entwürfe/Größe (neu)", "a.b.c/v1.2", "emoji 🤔/🎉",
    "deep/er/and/deeper/still", "UPPER/Lower", "with  two spaces/x", "'quoted' \"both\"/y", "100%/#tag", "наметки/план",
    "กขค/บันทึก", "עברית/פתק", "trailing space /z", "brackets [x]/(y)", "-dash/--flag", "con/nul", "plus+plus/a=b",
)  # fmt: skip


def filled(pair: Pair) -> dict[str, bytes]:
    """The files as they lie there, by path."""
    chance = random.Random(42)
    content: dict[str, bytes] = {}
    for number in range(NOTES):
        parts = [chance.choice(FRONT)]
        for _ in range(chance.randrange(8)):
            parts += [chance.choice(FRAGMENTS), chance.choice(GAPS)]
        newline = chance.choice(["\n", "\n", "\r\n", "\r"])
        text = "".join(parts).replace("\n", newline)
        content[f"{NAMES[number % len(NAMES)]} {number}.md"] = text.encode()
    for path, raw in content.items():
        pair.put(path, raw)
    return content


def bytes_of(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*.md")}


@pytest.mark.slow
def test_an_awkward_vault_goes_in_and_comes_out_byte_for_byte(pair: Pair, tmp_path: Path) -> None:
    content = filled(pair)
    report = pair.sync()
    assert (report.counts["create"], report.refused, report.passed) == (NOTES, {}, {})
    assert bytes_of(pair.root) == content, "nobody asked for a changed byte"
    copy = Pair(pair.house, tmp_path / "copy")
    copy.root.mkdir()
    assert copy.sync().counts["add"] == NOTES
    assert bytes_of(copy.root) == content
    assert copy.sync().done == []
    for id in sorted(pair.sources())[:40]:
        pair.edit(id, "replace_note", f"Short now: {id}.\n", expected_sha=pair.note(id).sha)
    assert pair.sync().counts["write"] == 40
    copy.sync()
    assert bytes_of(copy.root) == bytes_of(pair.root)
    assert sum(raw == content[path] for path, raw in bytes_of(copy.root).items()) == NOTES - 40
