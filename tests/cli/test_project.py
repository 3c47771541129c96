"""The command line and a running agent mean the same project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.conftest import Start, start_stdio

pytestmark = pytest.mark.slow

__all__ = ["start_stdio"]


def dolmen(place: Path, url: str, *words: str) -> Any:
    environment = {**os.environ, "DOLMEN_DATABASE": url, "DOLMEN_EMBEDDER": "none"}
    done = subprocess.run(
        [sys.executable, "-m", "dolmen", *words, "--json"], cwd=place, env=environment, capture_output=True, check=True
    )
    return json.loads(done.stdout)


def test_the_command_line_and_an_agent_agree_on_the_default_project_at_once(
    sqlite_url: str, start_stdio: Start, tmp_path: Path
) -> None:
    """B134: whatever names it anew counts for both, while the agent runs."""
    place = tmp_path / "working"
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    subprocess.run(["git", "-C", str(place), "remote", "add", "origin", "git@github.com:acme/shop.git"], check=True)
    agent = start_stdio(sqlite_url, embedder="none")
    agent.connect()

    def scopes(text: str) -> tuple[str, str]:
        """Where the agent's and the person's next memory goes."""
        told = agent.call("remember", memories=[{"content": f"{text}, said by an agent"}])["results"][0]
        return told["scope"], dolmen(place, sqlite_url, "memory", "add", f"{text}, said by a person")["scope"]

    assert scopes("Deploys happen on Tuesday") == ("project:github.com/acme/shop",) * 2
    dolmen(place, sqlite_url, "project", "use", "parcels")
    assert scopes("The cache lives in Redis") == ("project:parcels",) * 2
    (place / ".dolmen").unlink()
    subprocess.run(
        ["git", "-C", str(place), "remote", "set-url", "origin", "https://github.com/acme/store"], check=True
    )
    assert scopes("Money is an integer") == ("project:github.com/acme/store",) * 2
    assert dolmen(place, sqlite_url, "project", "which")["project"] == "github.com/acme/store"


def test_a_clone_of_a_folder_is_told_that_its_remote_is_one(sqlite_url: str, tmp_path: Path) -> None:
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    subprocess.run(["git", "init", "-q", str(origin)], check=True)
    subprocess.run(["git", "-C", str(origin), "commit", "-q", "--allow-empty", "-m", "one"], check=True)
    subprocess.run(["git", "clone", "-q", str(origin), str(clone)], check=True)
    found = dolmen(clone, sqlite_url, "project", "which")
    assert found["why"].startswith("Its remote is a folder on this disk")
    assert found["project"] == dolmen(origin, sqlite_url, "project", "which")["project"]
    assert dolmen(origin, sqlite_url, "project", "which")["why"].startswith("No remote;")
