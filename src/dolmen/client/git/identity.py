"""Which project a working directory is: facts read with git, named by `domain.identity`."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from dolmen.client import trust
from dolmen.client.git.calling import call
from dolmen.domain.errors import DolmenError
from dolmen.domain.identity import ProjectIdentity, RepositoryFacts, identify, normalize_project, override_project

TIMEOUT = 2.0
"""Seconds that one question to git may take; a slower answer counts as none."""
OVERRIDE_FILE = ".dolmen"
OVERRIDE_FILES = (".dolmen.toml", OVERRIDE_FILE)
"""What may name the project of a folder and those in it; the first that is there counts."""
KEPT_FILE = "dolmen-project"
"""In git's common directory: the identity of a repository that nothing else names (B118, B122)."""

_OVERRIDE_LIMIT = 64 * 1024
_MOST_SUPERPROJECTS = 5


def project(directory: Path) -> ProjectIdentity:
    """The project of a working directory; keeps an identity made from history in the repository's own git directory.

    Raises:
        DolmenError: `invalid-project` for a `.dolmen` file that names no usable project.
    """
    return located(directory)[0]


def located(directory: Path) -> tuple[ProjectIdentity, Path | None]:
    """The project as `project` gives it, and git's common directory; None outside a repository.

    Raises:
        DolmenError: `invalid-project`.
    """
    read = facts(directory)
    identity = identify(read)
    common = Path(read.common_dir) if read.common_dir is not None else None
    if identity.keep and identity.project is not None and common is not None:
        kept = _keep(common, identity.project)
        if kept != identity.project:  # another session was first
            identity = identify(replace(read, kept_identity=kept))
    return identity, common


@dataclass(frozen=True, slots=True)
class Places:
    """Where a directory's repository keeps its things; all None outside a repository."""

    common: Path | None = None
    """git's common directory: the same for every worktree."""
    toplevel: Path | None = None
    around: Path | None = None
    """The work tree that holds this one as a submodule."""
    shallow: bool = False


def places(directory: Path) -> Places:
    """What `git rev-parse` says; never raises."""
    return _places(_standing(directory))


def _places(git: _Git) -> Places:
    asked = ("--git-common-dir", "--is-shallow-repository", "--show-toplevel", "--show-superproject-working-tree")
    # A bare repository answers the first two and refuses the third.
    lines = git.said("rev-parse", *asked)[1].splitlines()
    if len(lines) < 2:
        return Places()
    return Places(
        common=(git.directory / lines[0]).resolve(),
        toplevel=Path(lines[2]) if len(lines) > 2 else None,
        around=Path(lines[3]) if len(lines) > 3 else None,
        shallow=lines[1] == "true",
    )


def facts(directory: Path, depth: int = 0) -> RepositoryFacts:
    """What git and the files say about a directory; a directory in no repository has only its `.dolmen` file."""
    directory = _existing(directory)
    git = _standing(directory)
    found = _places(git)
    override = _override(directory, found.toplevel or (directory if found.common else None))
    confirmed = trust.confirmed(found.common or override.file.parent) if override else ()
    if found.common is None:
        return RepositoryFacts(override=override.text if override else None, confirmed=confirmed)
    remotes = _remotes(git)
    kept = _kept(found.common)
    around = found.around if depth < _MOST_SUPERPROJECTS else None
    return RepositoryFacts(
        remotes=remotes,
        tracked_remote=_tracked(git) if len(remotes) > 1 else None,
        common_dir=found.common.as_posix(),
        toplevel=found.toplevel.as_posix() if found.toplevel else None,
        root_commits=() if kept or found.shallow or _named_by(remotes) else _roots(git),
        kept_identity=kept,
        fresh_id=os.urandom(16).hex(),
        override=override.text if override else None,
        confirmed=confirmed,
        superproject=facts(around, depth + 1) if around else None,
    )


def trusting(directory: Path) -> tuple[Path, str | None]:
    """For which place a person confirms a project, and which one the files there name; None when they name none.

    Raises:
        DolmenError: `invalid-project`.
    """
    directory = _existing(directory)
    found = places(directory)
    override = _override(directory, found.toplevel or (directory if found.common else None))
    place = found.common or (override.file.parent if override else directory)
    return place, override_project(override.text) if override else None


def installed() -> bool:
    """Whether there is a git to ask."""
    import shutil

    return shutil.which("git") is not None


def _existing(directory: Path) -> Path:
    """The directory, or the nearest one above it that is still there."""
    directory = directory.absolute()
    while not directory.is_dir() and directory != directory.parent:
        directory = directory.parent
    return directory


@dataclass(frozen=True, slots=True)
class _Git:
    """git, asked from a directory."""

    directory: Path
    bare: bool = False
    """Whether a bare repository around the directory counts."""

    def ask(self, *question: str) -> str | None:
        """The answer without its last line break; None when it refuses, is missing or takes too long."""
        fine, answer = self.said(*question)
        return answer if fine else None

    def said(self, *question: str) -> tuple[bool, str]:
        """Whether git did what it was asked, and what it said until then."""
        try:
            answer = call(self.directory, *question, seconds=TIMEOUT, bare=self.bare)
        except (OSError, subprocess.TimeoutExpired):
            return False, ""
        return answer.returncode == 0, answer.stdout.decode("utf-8", "surrogateescape").rstrip("\r\n")


def _standing(directory: Path) -> _Git:
    """From where to ask about a directory. A folder of a checkout that looks like a bare repository is a folder, or a
    checkout could bring along a repository that calls itself any project."""
    directory = _existing(directory)
    above = (directory, *directory.parents)
    for place in above:
        if (place / ".git").exists():
            break
        if (place / "HEAD").exists() and (place / "objects").is_dir() and (place / "refs").is_dir():
            around = next((each for each in place.parents if (each / ".git").exists()), None)
            carried = around is not None and not place.is_relative_to(around / ".git")
            return _Git(place.parent) if carried else _Git(directory, bare=True)
    return _Git(directory)


def _remotes(git: _Git) -> tuple[tuple[str, str], ...]:
    """Names and fetch URLs, as git rewrites them (`url.<base>.insteadOf`)."""
    found: dict[str, str] = {}
    for line in (git.ask("remote", "-v") or "").splitlines():
        name, tab, rest = line.partition("\t")
        url, fetched, _ = rest.rpartition(" (fetch)")  # a partial clone has its filter after it: `(fetch) [blob:none]`
        if tab and fetched:
            found.setdefault(name, url)
    return tuple(found.items())


def _named_by(remotes: tuple[tuple[str, str], ...]) -> bool:
    """Whether a remote names the project, so that the whole history need not be walked."""
    for _, url in remotes:
        try:
            return bool(normalize_project(url))
        except DolmenError:
            continue
    return False


def _tracked(git: _Git) -> str | None:
    branch = git.ask("symbolic-ref", "--quiet", "--short", "HEAD")
    return git.ask("config", "--get", f"branch.{branch}.remote") if branch else None


def _roots(git: _Git) -> tuple[str, ...]:
    """First commits of the checked out history; of any branch when that one is empty."""
    for which in ("HEAD", "--all"):
        if answer := git.ask("rev-list", "--max-parents=0", which):
            return tuple(answer.split())
    return ()


@dataclass(frozen=True, slots=True)
class _Override:
    file: Path
    text: str


def _override(directory: Path, toplevel: Path | None) -> _Override | None:
    """The nearest of `OVERRIDE_FILES` from the directory up to the top of its repository, or, outside one, the home."""
    last = toplevel.resolve() if toplevel else Path.home()
    place = directory.resolve()
    while True:
        for name in OVERRIDE_FILES:
            if (text := _text(place / name)) is not None:
                return _Override(place / name, text)
        if place in (last, place.parent):
            return None
        place = place.parent


def _kept(common: Path) -> str | None:
    return (_text(common / KEPT_FILE) or "").strip() or None


def _text(file: Path) -> str | None:
    try:
        if file.is_file():
            with file.open("rb") as stream:
                return stream.read(_OVERRIDE_LIMIT).decode("utf-8", "replace")
    except OSError:
        pass
    return None


def _keep(common: Path, identity: str) -> str:
    """Writes the identity unless one is there; gives the one that is there afterwards."""
    draft = common / f"{KEPT_FILE}.{os.getpid()}.{os.urandom(4).hex()}"
    try:
        draft.write_text(identity + "\n", encoding="utf-8", newline="\n")
        try:
            os.link(draft, common / KEPT_FILE)  # whole or not at all, and never over another session's
        finally:
            draft.unlink()
    except OSError:  # there already, or a repository that may only be read
        return _kept(common) or identity
    return identity
