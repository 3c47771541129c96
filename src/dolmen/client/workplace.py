"""The default project of this machine's user: what the settings say, else what the working directory is."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from dolmen.client import git, trust
from dolmen.domain.identity import SCOPE_USER, ProjectIdentity, normalize_project

NO_PROJECT = ProjectIdentity(None, "none", "The settings say to work without a project.")


def default_project(configured: str, directory: Path) -> ProjectIdentity:
    """The project that the command line and `dolmen mcp` share (B134).

    Args:
        configured: the setting `project`; `user` for none, empty to look at the directory.

    Raises:
        DolmenError: `invalid-project`.
    """
    if configured.strip() == SCOPE_USER:
        return NO_PROJECT
    if configured.strip():
        return ProjectIdentity(normalize_project(configured), "override", "The setting `project` names it.")
    return git.project(directory)


@dataclass(slots=True)
class Workplace:
    """A working directory over the life of a process: looked at again when a file that names its project changes."""

    configured: str
    directory: Path
    _seen: tuple[object, ...] = ()
    _watched: tuple[Path, ...] = ()
    _identity: ProjectIdentity | None = field(default=None)

    def project(self) -> ProjectIdentity:
        """The project now, and those around it. Costs a few file look-ups unless something changed.

        Raises:
            DolmenError: `invalid-project`.
        """
        if self._identity is None or (not self.configured and self._signs() != self._seen):
            self._identity = default_project(self.configured, self.directory)
            self._watched = self._files()
            self._seen = self._signs()
        return self._identity

    def _files(self) -> tuple[Path, ...]:
        if self.configured:
            return ()
        facts = git.places(self.directory)
        folders = [self.directory, *([facts.toplevel] if facts.toplevel else [])]
        found = [folder / name for folder in folders for name in git.OVERRIDE_FILES]
        if facts.common:
            found += [facts.common / "config", facts.common / git.KEPT_FILE]
        return (*found, trust.file())

    def _signs(self) -> tuple[object, ...]:
        return tuple(_sign(file) for file in self._watched)


def _sign(file: Path) -> object:
    try:
        state = file.stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino
