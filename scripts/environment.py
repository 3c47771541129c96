"""Makes or refreshes the project's virtual environment: `environment.py ROOT LEVEL FINGERPRINT`.

Called by scripts/environment.sh when the stamp of LEVEL is missing or old. Safe when several start at once: one works,
the others wait and find its work done. Standard library only, and nothing newer than Python 3.11.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import platform
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

LEVELS = ("run", "postgres", "dev")
"""Each level contains the ones before it, with the same versions."""


def say(text: str) -> None:
    print(f"dolmen: {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Hold the lock file; the system lets go of it however this process ends."""
    with lock.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another set-up is running, waiting for it")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def stamp(venv: Path, level: str) -> Path:
    return venv / f".dolmen-{level}"


def is_current(venv: Path, level: str, fingerprint: str) -> bool:
    try:
        return stamp(venv, level).read_text().strip() == fingerprint and (venv / "bin" / "python").exists()
    except OSError:
        return False


def can_import(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False


def fail_without_venv() -> None:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    say(f"{sys.executable} (Python {version}) cannot make virtual environments: a part of it is packed apart.")
    say(f"Install it, then start again:  apt-get install python{version}-venv   (or: apt-get install python3-venv)")
    say("Or name another Python:  PYTHON=/path/to/python3 scripts/serve")
    raise SystemExit(1)


def works(venv: Path) -> bool:
    """True when its Python starts, is new enough and has pip, and its commands point to where it stands."""
    python = venv / "bin" / "python"
    if not python.exists():  # also when the Python that it was made from is gone
        return False
    probe = "import sys, pip; sys.exit(sys.version_info < (3, 11))"
    if subprocess.run([python, "-c", probe], check=False, capture_output=True).returncode != 0:
        return False
    command = venv / "bin" / "pip"
    return not command.exists() or str(venv) in command.read_text(errors="replace")


def create(venv: Path) -> list[str]:
    """Make the environment unless a working one stands there; returns the command that runs pip for it."""
    python = venv / "bin" / "python"
    own_pip = [str(python), "-m", "pip"]
    if works(venv):
        return own_pip
    if not can_import("venv"):
        fail_without_venv()
    make = [sys.executable, "-m", "venv", "--clear", str(venv)]
    if can_import("ensurepip"):
        done = subprocess.run(make, check=False, capture_output=True, text=True)
        if done.returncode == 0:
            return own_pip
        say((done.stdout + done.stderr).strip())
        fail_without_venv()
    if not can_import("pip"):
        fail_without_venv()
    # Debian without python3-venv but with python3-pip: that pip can install into an environment that has none.
    subprocess.run([*make, "--without-pip"], check=True)
    return [sys.executable, "-m", "pip", "--python", str(python)]


def run_pip(pip: list[str], arguments: list[str]) -> None:
    """Run `pip install`, counting the packages as they come; on failure show all that pip said.

    Raises SystemExit with pip's code.
    """
    command = [*pip, "install", "--disable-pip-version-check", "--no-input", *arguments]
    said: list[str] = []
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, text=True, errors="replace", **pipes) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line)
            progress(line, sum(map(is_package, said)))
    if process.returncode != 0:
        print("".join(said), file=sys.stderr)
        if sys.platform == "linux" and platform.libc_ver()[0] != "glibc":
            say("this Linux has no glibc (Alpine?), and the embedded model runs on no other: use one that has it")
        say("the packages could not be installed; pip's own words are above. Start again once the cause is mended.")
        raise SystemExit(process.returncode)


def is_package(line: str) -> bool:
    return line.startswith(("Collecting ", "Processing "))


def progress(line: str, count: int) -> None:
    """On a terminal, one line that changes: the package that pip is at."""
    if not sys.stderr.isatty():
        return
    text = ""
    if is_package(line):
        text = f"  {count} {Path(line.split()[1]).name.partition('==')[0]}"
    elif line.startswith("Installing collected packages"):
        text = "  unpacking"
    elif not line.startswith("Successfully installed"):
        return
    print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def install(root: Path, venv: Path, level: str) -> None:
    pip = create(venv)
    requirements = root / "requirements" / f"{level}.txt"
    # The files name every package with its hashes, so nothing has to be resolved.
    run_pip(pip, ["--no-deps", "--require-hashes", "-r", str(requirements)])
    run_pip(pip, ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--editable", str(root)])


def main(root: Path, level: str, fingerprint: str) -> None:
    venv = root / ".venv"
    with alone(root / ".venv.lock"):
        if is_current(venv, level, fingerprint):
            return
        version = ".".join(map(str, sys.version_info[:3]))
        state = "refreshing" if venv.exists() else "setting up, once (about 110 MB to fetch)"
        say(f"{state} in {venv} with Python {version}")
        for each in LEVELS:
            stamp(venv, each).unlink(missing_ok=True)
        install(root, venv, level)
        for each in LEVELS[: LEVELS.index(level) + 1]:
            stamp(venv, each).write_text(fingerprint + "\n")
        command = venv / "bin" / "dolmen"
        say(f"ready: the command is {command}")
        say(f"to have it everywhere:  mkdir -p ~/.local/bin && ln -sf {shlex.quote(str(command))} ~/.local/bin/")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
