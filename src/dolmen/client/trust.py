"""Which projects a checkout's own files may name: those that the person of this machine confirmed for it.

A `.dolmen` file comes along with a checkout, whoever wrote it. Followed unasked, it would open the memory of any
project to the sessions in that checkout.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from dolmen.domain.errors import DolmenError
from dolmen.domain.identity import ProjectIdentity
from dolmen.settings import folders

_LIMIT = 1 << 20
_PLAIN = re.compile(r"[\w./-]{1,120}")
_SHOWN = 60


def file() -> Path:
    """In this user's data directory, which no checkout can write."""
    return folders.data() / "trusted-projects.json"


def confirmed(place: Path) -> tuple[str, ...]:
    """The projects that a person confirmed for a place: git's common directory, or a folder outside a repository."""
    return tuple(project for project, is_so in _answers(place).items() if is_so)


def answered(place: Path, project: str) -> bool | None:
    """What a person said; None when nobody was asked."""
    return _answers(place).get(project)


def answer(place: Path, project: str, confirm: bool) -> None:
    """Keeps what a person said.

    Raises:
        DolmenError: `unavailable` when the file cannot be written.
    """
    said = _read()
    said[_key(place)] = {**_answers(place), project: confirm}
    _write(said)


def withdraw(place: Path) -> tuple[str, ...]:
    """Forgets what was said of a place; returns the projects that were confirmed for it.

    Raises:
        DolmenError: `unavailable`.
    """
    said, before = _read(), confirmed(place)
    if said.pop(_key(place), None) is not None:
        _write(said)
    return before


def notice(identity: ProjectIdentity) -> str:
    """For a person, when a file names a project that nobody confirmed; empty else."""
    if not identity.unconfirmed:
        return ""
    return (
        f"A .dolmen file in this folder names the project {shown(identity.unconfirmed)}, which nobody has "
        f"confirmed on this machine, so it is {identity.project or 'no project'} here. "
        "`dolmen project trust` confirms it."
    )


def shown(project: str) -> str:
    """A name that somebody else chose, such that it cannot be taken for a sentence of ours."""
    if _PLAIN.fullmatch(project):
        return project
    return json.dumps(project if len(project) <= _SHOWN else f"{project[:_SHOWN]}…", ensure_ascii=False)


def _key(place: Path) -> str:
    return os.path.normcase(place.resolve())


def _answers(place: Path) -> dict[str, bool]:
    found = _read().get(_key(place))
    return {str(name): is_so is True for name, is_so in found.items()} if isinstance(found, dict) else {}


def _read() -> dict[str, object]:
    """What stands in the file; nothing for one that cannot be read, so that nothing is trusted by accident."""
    try:
        with file().open("rb") as stream:
            found = json.loads(stream.read(_LIMIT))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(said: dict[str, object]) -> None:
    place = file()
    draft = place.with_name(f".{place.name}.{os.urandom(4).hex()}")
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft.touch(mode=0o600)
        draft.write_text(json.dumps(said, ensure_ascii=False, indent=1), encoding="utf-8")
        draft.replace(place)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise DolmenError(
            "unavailable", f"{place} cannot be written: {error.strerror}.", "Check that you may write there."
        ) from error
