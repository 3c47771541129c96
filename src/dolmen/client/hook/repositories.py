"""What a person is told once of a repository: that its remote was renamed (B125), that its file is not followed."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from dolmen.client.hook import places
from dolmen.domain.identity import ProjectIdentity


def renamed(common: Path, identity: ProjectIdentity) -> str:
    """Remembers the identity. When the repository had another one: an offer to join the two, made once.

    Args:
        common: git's common directory, the same for every worktree.
    """
    if identity.project is None:
        return ""
    try:
        file = places.folder("repositories") / places.name_of(os.path.normcase(common))
        before = file.read_text(encoding="utf-8").strip() if file.exists() else ""
        if before == identity.project:
            return ""
        places.write_private(file, identity.project.encode() + b"\n")
    except (OSError, UnicodeDecodeError):
        return ""
    if not before:
        return ""
    return (
        f"This repository was the project {before} before and is {identity.project} now. If it was renamed, "
        f"`dolmen project alias {shlex.quote(before)} {shlex.quote(identity.project)}` joins their memory."
    )


def unconfirmed(place: Path, identity: ProjectIdentity) -> str:
    """That a file names a project which nobody has confirmed here; said once for each name.

    Args:
        place: git's common directory, or a folder outside a repository.
    """
    from dolmen.client import trust

    if not identity.unconfirmed:
        return ""
    try:
        name = places.name_of("unconfirmed", os.path.normcase(place), identity.unconfirmed)
        file = places.folder("repositories") / name
        if file.exists():
            return ""
        places.write_private(file, identity.unconfirmed.encode() + b"\n")
    except OSError:
        return ""
    return trust.notice(identity)
