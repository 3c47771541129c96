"""Every transcript in this folder, played on a store of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.transcript import _match, parse, run

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A home and a working directory of their own; the environment of the commands."""
    work = tmp_path / "here"
    work.mkdir()
    monkeypatch.chdir(work)
    environment = {
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "DOLMEN_EMBEDDER": "none",
        "TERMINAL_WIDTH": "100",
        "COLUMNS": "120",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return environment


@pytest.mark.parametrize("file", sorted(HERE.glob("*.txt")), ids=lambda file: file.stem)
def test_the_command_line_answers_as_the_transcript_says(file: Path, place: dict[str, str]) -> None:
    run(file, place)


def test_a_transcript_that_differs_is_noticed() -> None:
    [step] = parse("$ dolmen x\na … c\n…\n2> oh\n[3]\n\n")
    assert (step.command, step.code, step.side(True)) == ("dolmen x", 3, ["oh"])
    assert _match(step.side(False), ["a b c", "more", ""], {}) == {}
    assert _match(step.side(False), ["a b d"], {}) is None
    assert _match(["<ref> stored"], ["abc stored"], {}) == {"ref": "abc"}
    assert _match(["<ref> stored"], ["abc stored"], {"ref": "xyz"}) is None
    assert _match(["<a> <a>"], ["x y"], {}) is None
