"""`dolmen mirror --server`: which server is meant, what it is shown, and what the folder keeps of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interfaces.conftest import Serve
from tests.interfaces.mirror.conftest import edit, new, sources

pytestmark = pytest.mark.slow


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "vault"
    place.mkdir()
    (place / "a.md").write_text("One.\n")
    return place


def start(root: Path, *more: str, **settings: str) -> subprocess.Popen[str]:
    variables = {f"DOLMEN_{name.upper()}": value for name, value in settings.items()}
    return subprocess.Popen(
        [sys.executable, "-m", "dolmen", "mirror", str(root), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "DOLMEN_DATABASE": f"sqlite:///{root.parent}/own.db", **variables, "PYTHONUNBUFFERED": "1"},
    )


def run(root: Path, *more: str, code: int = 0, **settings: str) -> str:
    process = start(root, *more, **settings)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == code, said
    return said


def test_a_folder_knows_its_server_and_the_key_is_shown_to_no_other(serve: Serve, root: Path) -> None:
    served, other = serve(auth="keys"), serve(auth="keys")
    assert "fix: Set DOLMEN_KEY to a key of that server" in run(root, "--user", "--server", served.base, code=5)
    key = served.key("laptop")
    assert "1 new note" in run(root, "--user", "--dry-run", "--server", served.base, key=key)
    assert sources(served) == {}
    said = run(root, "--user", "--server", served.base, key=key)
    assert "1 new note" in said
    assert list(sources(served).values()) == ["One.\n"]
    new(served, "Two.\n", permalink="b")
    assert "1 new file" in run(root, key=key)
    assert (root / "b.md").read_text() == "Two.\n"
    assert not (root.parent / "own.db").exists()
    kept = root / ".dolmen" / "local" / "server"
    assert kept.read_text().startswith(served.url + "\n")
    assert key not in kept.read_text()
    kept.write_text(kept.read_text().replace(served.url, other.url))
    said = run(root, key=key, code=5)
    assert f"The key in the settings was never shown to {other.url}" in said
    assert sources(other) == {}
    assert "This folder mirrors another vault." in run(root, "--server", other.base, key=other.key("laptop"), code=4)
    said = run(root, "--database", f"sqlite:///{root.parent}/own.db", code=4)
    assert "This folder mirrors another vault." in said


def test_a_new_folder_mirrors_the_server_in_the_settings_and_says_so(serve: Serve, root: Path) -> None:
    served = serve(auth="keys")
    key = served.key("laptop", mode="suggest")
    said = run(root, "--server", "http://memory.example", url=served.url, key=key, code=2)
    assert "read" in said
    said = run(root, url=served.url, key=key)
    assert f"at {served.url}" in said
    assert "this key may only suggest" in said
    assert "1 for review" in said
    assert "waits for you" in run(root, url=served.url, key=key)
    assert "--server and --database name two vaults" in run(
        root, "--server", served.base, "--database", "sqlite:///x.db", code=2
    )


def test_a_line_break_in_the_name_of_a_file_forges_no_line(root: Path) -> None:
    (root / "b\nrefused: c.md").write_text("Two.\n")
    said = run(root, "--user").splitlines()
    assert said[-2:] == ["new note: a.md", "new note: b␊refused: c.md"]
    listed = subprocess.run(
        [sys.executable, "-m", "dolmen", "note", "list", "--user", "--json"],
        env={**os.environ, "DOLMEN_DATABASE": f"sqlite:///{root.parent}/own.db"},
        capture_output=True,
        check=True,
    )
    assert "b refused: c" in [note["title"] for note in json.loads(listed.stdout)["notes"]]


def test_a_vault_is_named_for_a_store_and_not_for_a_server(serve: Serve, root: Path) -> None:
    served = serve()
    for more, settings in ((("--server", served.base), {}), ((), {"url": served.url})):
        said = run(root, "--user", "--vault", "other", *more, code=2, **settings)
        assert f"at {served.url}, where the key or the sign-in says which" in " ".join(said.split())
        assert "dolmen key create mirror --vault other" in " ".join(said.split())
    run(root, "--user", "--server", served.base)
    assert "Leave --vault out" in run(root, "--vault", "other", code=2)
    assert list(sources(served).values()) == ["One.\n"]


def test_a_folder_is_watched_over_the_network(serve: Serve, root: Path) -> None:
    served = serve()
    os.utime(root / "a.md", (1_700_000_000, 1_700_000_000))
    watching = start(root, "--user", "--server", served.base, "--watch", "--json")
    assert watching.stdout is not None
    assert json.loads(watching.stdout.readline()) == {"what": "create", "path": "a.md"}
    edit(served, "a", "append", "The agent goes on.")
    assert json.loads(watching.stdout.readline()) == {"what": "write", "path": "a.md"}
    assert (root / "a.md").read_text() == "One.\n\nThe agent goes on.\n"
    watching.send_signal(signal.SIGTERM)
    assert watching.wait(timeout=30) == 0
    watching.stdout.close()
