"""The one place that calls git: without obeying what a repository's own settings would have it run.

A checkout may have come along in an archive, settings and all, and those can name programs: watchers, filters, hooks,
external diffs, signature checkers, transports. Nothing of that is needed to read, so nothing of it is run. Settings of
the person and of the machine still count, such as `safe.directory` and `url.<base>.insteadOf`.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

_HARMLESS = (
    "core.fsmonitor=false",
    "core.sshCommand=false",
    "core.alternateRefsCommand=false",
    "core.pager=cat",
    "credential.helper=",
    "log.showSignature=false",
    "protocol.allow=never",
)
_OWN_HOOKS = "core.hooksPath=/dev/null"
_NO_CARRIED = "safe.bareRepository=explicit"
"""No repository whose settings are files of another one: a checkout may hold a folder that looks like one."""
_INHERITED = frozenset({
    # What git itself drops before it turns to another repository (`git rev-parse --local-env-vars`), as a hook has it …
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_INTERNAL_SUPER_PREFIX",
    # … and what would change an answer.
    "GIT_ATTR_SOURCE", "GIT_EXTERNAL_DIFF", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
})  # fmt: skip
_FIXED = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # wins over `protocol.<name>.allow` in any file; an empty one would count as not set
    "LC_ALL": "C",
}


def call(
    directory: Path,
    *question: str,
    seconds: float,
    given: bytes = b"",
    settings: Mapping[str, str] | None = None,
    hooks_path: bool = False,
    bare: bool = False,
) -> subprocess.CompletedProcess[bytes]:
    """Asks git about the repository of a directory. Nothing is locked, fetched, written or asked of a person.

    Args:
        seconds: after which it is stopped.
        given: for its standard input.
        settings: further ones that win over every file's.
        hooks_path: leave `core.hooksPath` as it is set, for a question after it.
        bare: also where the directory is inside a bare repository.

    Raises:
        OSError: there is no git.
        subprocess.TimeoutExpired
    """
    fixed = [*_HARMLESS, *(() if hooks_path else (_OWN_HOOKS,)), *(() if bare else (_NO_CARRIED,))]
    return subprocess.run(
        [_program(), "--no-pager", *(word for each in fixed for word in ("-c", each)), "-C", str(directory), *question],
        input=given,
        capture_output=True,
        timeout=seconds,
        env=_environment(settings or {}),
        check=False,
    )


def filters_off(directory: Path, seconds: float) -> dict[str, str]:
    """Settings under which no filter runs that the repository itself names; what the person set up stays.

    To compare a file with what is committed, git passes it through the filter that attributes give it.

    Raises:
        OSError, subprocess.TimeoutExpired
    """
    asked = ("config", "-z", "--show-scope", "--name-only", "--get-regexp", r"^filter\.")
    words = call(directory, *asked, seconds=seconds).stdout.decode("utf-8", "surrogateescape").split("\0")
    own = {name.rpartition(".")[0] for scope, name in zip(words[::2], words[1::2]) if scope in ("local", "worktree")}
    values = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
    return {f"{name}.{what}": value for name in sorted(own) for what, value in values}


def _program() -> str:
    """Windows would look into the working directory first, where a checkout may have put a `git.exe`."""
    if os.name != "nt":
        return "git"
    folders = [Path(each) for each in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(each)]
    return next((str(folder / "git.exe") for folder in folders if (folder / "git.exe").is_file()), "git-is-not-there")


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _INHERITED} | _FIXED
    if not settings:
        return kept
    # Not `-c`, which ends a name at its first `=`.
    count = kept.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdecimal() else 0
    for number, (name, value) in enumerate(settings.items(), first):
        kept |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return kept | {"GIT_CONFIG_COUNT": str(first + len(settings))}
