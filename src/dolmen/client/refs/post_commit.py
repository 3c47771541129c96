"""git's post-commit hook: looks at the code after each commit, beside whatever else the hook does."""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from dolmen.client.git import call
from dolmen.domain.errors import DolmenError

_FROM = "# >>> dolmen: keeps memory true to the code; `dolmen refs hook --remove` takes this out"
_TO = "# <<< dolmen"
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "ash")


def file(directory: Path) -> Path:
    """Where the hook of a directory's repository is, or would be.

    Raises:
        DolmenError: `not-found` outside a repository; `configuration` when its hooks are kept outside of it, where they
            are those of other repositories too.
    """
    root, common, hooks = (_asked(directory, *question) for question in _QUESTIONS)
    if root is None or common is None or hooks is None:
        raise DolmenError("not-found", f"{directory.resolve()} is in no git repository.", "Call it inside a checkout.")
    if not any(hooks.is_relative_to(place) for place in (root, common)):
        raise DolmenError(
            "configuration",
            f"The hooks of this repository are kept in {hooks} (core.hooksPath), with those of others.",
            "Call `dolmen refs sync --quiet` from the post-commit hook there yourself, if all of them should.",
        )
    return hooks / "post-commit"


_PATIENCE = 10.0
_QUESTIONS = (
    ("--show-toplevel",),
    ("--git-common-dir",),
    ("--git-path", "hooks"),
)


def _asked(directory: Path, *question: str) -> Path | None:
    try:
        done = call(directory, "rev-parse", *question, seconds=_PATIENCE, hooks_path=True)
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = done.stdout.decode("utf-8", "surrogateescape").rstrip("\r\n")
    return (directory / said).resolve() if done.returncode == 0 and said else None


def installed(hook: Path) -> bool:
    return _FROM in _read(hook)


def install(hook: Path, program: list[str] | None = None) -> bool:
    """Adds the block to the hook, or brings it up to date; False when it was there as it is.

    Args:
        program: how this program is called; found out when left out.

    Raises:
        DolmenError: `conflict` when the hook is no shell script.
    """
    before = _read(hook)
    first, _, rest = _without(before).partition("\n") if before else ("#!/bin/sh", "", "")
    if first.startswith("#!"):
        words = first[2:].replace("/", " ").split()
        if not any(word in _SHELLS for word in words):
            raise DolmenError(
                "conflict", f"{hook} is no shell script.", "Call `dolmen refs sync --quiet` from it yourself."
            )
    else:  # git gives a hook without a first line to the shell
        first, rest = "#!/bin/sh", _without(before)
    after = "\n".join([first, *_block(program or _program()), rest])
    if after == before:
        return False
    _write(hook, after)
    return True


def remove(hook: Path) -> bool:
    """Takes the block out, and the file when nothing else is in it; False when it was not there."""
    before = _read(hook)
    if _FROM not in before:
        return False
    after = _without(before)
    if after.strip() in ("", "#!/bin/sh"):
        hook.unlink()
    else:
        _write(hook, after)
    return True


def _block(program: list[str]) -> list[str]:
    """In the background, so that no commit waits; harmless when the program is gone."""
    call = " ".join(shlex.quote(word) for word in program)
    return [
        _FROM,
        f"command -v {shlex.quote(program[0])} >/dev/null 2>&1 &&",
        f"    ({call} refs sync --quiet --seconds 60 </dev/null >/dev/null 2>&1 &)",
        _TO,
    ]


def _program() -> list[str]:
    """How to call this program again: by its file, which stays the same when PATH does not."""
    started = Path(sys.argv[0])
    if started.stem == "dolmen" and started.is_file():
        return [started.resolve().as_posix()]
    found = shutil.which("dolmen")
    return [Path(found).as_posix()] if found else [Path(sys.executable).as_posix(), "-P", "-m", "dolmen"]


def _without(text: str) -> str:
    """The hook without the block."""
    before, mark, rest = text.partition(_FROM)
    if not mark:
        return text
    return before + rest.partition(_TO)[2].removeprefix("\n")


def _read(hook: Path) -> str:
    return hook.read_text(encoding="utf-8", errors="surrogateescape") if hook.is_file() else ""


def _write(hook: Path, text: str) -> None:
    """Whole or not at all, and executable."""
    hook.parent.mkdir(parents=True, exist_ok=True)
    place = hook.resolve()
    mode = place.stat().st_mode if place.exists() else 0o644
    draft = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    draft.write_text(text, encoding="utf-8", errors="surrogateescape", newline="\n")
    draft.chmod(mode | 0o111 & ~_umask())
    draft.replace(place)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
