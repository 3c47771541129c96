"""scripts/serve and scripts/test find a Python, say what is missing, and cost nothing once they have set up."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("sh", "cat", "cksum", "dirname")
"""All that the scripts may need besides Python."""

HIDE = """
import os, sys

class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in os.environ["HIDE"].split():
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Hide())
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The scripts and what they read, in a folder whose name has a space, without an environment."""
    folder = tmp_path / "a clone"
    for name in ("scripts", "requirements"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def start(clone: Path, tools: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run scripts/serve with nothing on the PATH but TOOLS and what was put there."""
    tools.mkdir(exist_ok=True)
    for tool in TOOLS:
        program = shutil.which(tool)
        assert program is not None
        (tools / tool).symlink_to(program)
    return subprocess.run(
        [clone / "scripts" / "serve"],
        check=False,
        env={"PATH": str(tools), **environment},
        capture_output=True,
        text=True,
    )


def test_without_python_they_say_how_to_get_one(clone: Path, tmp_path: Path) -> None:
    done = start(clone, tmp_path / "tools")
    assert done.returncode == 1
    assert "needs Python 3.11" in done.stderr
    assert "apt-get install python3" in done.stderr


def test_a_python_that_is_too_old_is_passed_over(clone: Path, tmp_path: Path) -> None:
    old = tmp_path / "tools" / "python3"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\nexit 1\n")  # what the question for the version gives
    old.chmod(0o755)
    done = start(clone, old.parent)
    assert (done.returncode, done.stdout) == (1, "")
    assert "none was found on the PATH" in done.stderr


def test_a_named_python_that_does_not_fit_is_not_replaced_by_another(clone: Path, tmp_path: Path) -> None:
    done = start(clone, tmp_path / "tools", PYTHON="/no/such/python")
    assert done.returncode == 1
    assert "PYTHON=/no/such/python is not Python 3.11 or newer" in done.stderr


def test_debian_without_its_venv_package_is_told_which_one_to_install(clone: Path, tmp_path: Path) -> None:
    (tmp_path / "hide").mkdir()
    (tmp_path / "hide" / "sitecustomize.py").write_text(HIDE)
    python = os.path.realpath(sys.executable)  # not that of the environment, which finds its packages otherwise
    done = start(clone, tmp_path / "tools", PYTHON=python, PYTHONPATH=str(tmp_path / "hide"), HIDE="ensurepip pip")
    assert done.returncode == 1
    assert f"apt-get install python{sys.version_info.major}.{sys.version_info.minor}-venv" in done.stderr
    assert not (clone / ".venv" / ".dolmen-run").exists()


def test_a_set_up_that_is_current_costs_hardly_more_than_a_start_of_python(clone: Path, tmp_path: Path) -> None:
    """The server's own start is its to spend: the script before it may not be felt."""
    programs = clone / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").symlink_to(sys.executable)
    (programs / "dolmen").write_text('#!/bin/sh\necho "started: $*"\n')
    (programs / "dolmen").chmod(0o755)
    question = f'. "{clone}/scripts/environment.sh"; fingerprint'
    stamp = subprocess.check_output(["sh", "-c", question, f"{clone}/scripts/serve"], text=True)
    (clone / ".venv" / ".dolmen-run").write_text(stamp)
    script, python = [], []
    for _ in range(8):
        begin = time.perf_counter()
        done = subprocess.run([clone / "scripts" / "serve", "--port", "1"], check=True, capture_output=True, text=True)
        between = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True, capture_output=True)
        script.append(between - begin)
        python.append(time.perf_counter() - between)
        assert done.stdout == "started: serve --port 1\n"
    assert min(script) < 4 * min(python), "12 ms each on a machine of its own"


def test_a_change_of_the_requirements_makes_the_set_up_old(clone: Path) -> None:
    question = f'. "{clone}/scripts/environment.sh"; fingerprint'
    ask = ["sh", "-c", question, f"{clone}/scripts/serve"]
    before = subprocess.check_output(ask, text=True)
    with (clone / "requirements" / "run.txt").open("a") as file:
        file.write("# another line\n")
    assert subprocess.check_output(ask, text=True) != before
