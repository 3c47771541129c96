"""`dolmen note import` and `export` with folders that somebody else filled."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dolmen.interfaces.cli.main import cli


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in {"HOME": "", "XDG_DATA_HOME": "data", "XDG_CONFIG_HOME": "config"}.items():
        monkeypatch.setenv(name, str(tmp_path / value))
    monkeypatch.setenv("DOLMEN_EMBEDDER", "none")
    folder = tmp_path / "vault"
    (folder / "plans").mkdir(parents=True)
    (folder / "plans" / "tuesday.md").write_text("We deploy on Tuesday.\n")
    return folder


def dolmen(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, ["note", *map(str, words), "--user"], prog_name="dolmen")


def test_what_is_no_file_is_not_waited_for(vault: Path) -> None:
    os.mkfifo(vault / "endless.md")
    assert "1 new" in dolmen("import", vault).output


def test_nothing_is_written_through_a_link_out_of_the_folder(vault: Path, tmp_path: Path) -> None:
    assert dolmen("import", vault).exit_code == 0
    out, mine = tmp_path / "out", tmp_path / "mine"
    out.mkdir()
    mine.mkdir()
    (out / "plans").symlink_to(mine)
    said = dolmen("export", out)
    assert said.exit_code != 0
    assert "out of the folder" in said.output
    assert list(mine.iterdir()) == []
