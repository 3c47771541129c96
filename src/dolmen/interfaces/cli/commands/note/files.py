"""`dolmen note import` and `dolmen note export`: folders of Markdown files, byte for byte."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import click

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.cli.commands.memory import options
from dolmen.interfaces.cli.exits import FAILED
from dolmen.interfaces.cli.here import Here, command
from dolmen.interfaces.cli.visible import one_line

_LISTED = 50
_SIZE_LIMIT = 8_000_000
"""Bytes of a file that is looked at: more than 1,000,000 characters can have."""


@click.command("import")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@options.project
@click.option("--mine", is_flag=True, help="The words are yours: preferences and conventions in them hold at once.")
@command
def import_(here: Here, folder: Path, project: str | None, mine: bool) -> None:
    """Take the Markdown files of a folder in as notes, byte for byte; again and again without harm.

    What they say is found and quoted, but steers no agent until you verify it, unless you say that it is yours.

    A file that changed since changes its note. Hidden folders and links are passed over, nothing is deleted, and a file
    that is refused is named and leaves the others alone.
    """
    from dolmen.services.notes.files import NoteFile, known_files, stranger, take_file

    counts: Counter[str] = Counter()
    refused: list[dict[str, str]] = []
    progress = here.out.progress("importing")
    with here.vault(in_project=not project, create=True) as (rt, actor):
        actor = actor if mine else stranger(actor)
        known = known_files(rt, actor, project)
        for number, path in enumerate(_markdown(folder), 1):
            name = path.relative_to(folder).as_posix()
            try:
                done = take_file(rt, actor, NoteFile(name, _text(path)), known, project)
                counts[done.outcome] += 1
            except DolmenError as error:
                if error.code in ("store-busy", "unavailable", "internal"):
                    raise
                refused.append({"path": name, "code": error.code, "message": error.message})
            progress(number)
    progress.end()
    lines = [f"{counts['stored']} new, {counts['updated']} changed, {counts['unchanged']} as they were"]
    lines += [f"refused: {one_line(each['path'])}: {each['message']}" for each in refused[:_LISTED]]
    if len(refused) > _LISTED:
        lines.append(f"… and {len(refused) - _LISTED} more")
    here.out.result({**counts, "refused": refused}, lines)
    if refused:
        sys.exit(FAILED)


def _markdown(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(root, name)
            if name.lower().endswith(".md") and not name.startswith(".") and not path.is_symlink() and path.is_file():
                yield path


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _SIZE_LIMIT:
            raise DolmenError("too-large", "The file is larger than a note can be.", "Split it.")
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise DolmenError("invalid-argument", "The file is not UTF-8.", "Convert it, such as with `iconv`.") from error
    except OSError as error:
        raise DolmenError(
            "invalid-argument", f"The file cannot be read: {error.strerror}.", "Look at its permissions."
        ) from error


@click.command("export")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@options.project
@command
def export_(here: Here, folder: Path, project: str | None) -> None:
    """Write the notes into a folder as Markdown files, byte for byte.

    Files that say the same already are left alone; nothing is deleted.
    """
    from dolmen.services.notes.files import files_of

    counts: Counter[str] = Counter()
    with here.vault(in_project=not project) as (rt, actor):
        for file in files_of(rt, actor, project):
            counts[_write(folder, file.path, file.source.encode("utf-8"))] += 1
    here.out.result(dict(counts), [f"{counts['written']} written, {counts['unchanged']} as they were"])


def _write(folder: Path, name: str, content: bytes) -> str:
    """A file that appears under its name only when it is complete, and never outside of the folder."""
    parts = PurePosixPath(name).parts
    path = folder.joinpath(*parts)
    if not parts or ".." in parts or PurePosixPath(name).is_absolute() or any(":" in part for part in parts):
        raise DolmenError("invalid-argument", f"{name!r} is no path inside of a folder.", "Move that note first.")
    try:
        if path.is_file() and path.read_bytes() == content:
            return "unchanged"
        if not path.parent.resolve().is_relative_to(folder.resolve()):
            raise DolmenError("invalid-argument", f"{path.parent} is a link out of the folder.", "Remove that link.")
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name[:60]}.{os.getpid()}.part")
        draft.write_bytes(content)
        draft.replace(path)
        return "written"
    except OSError as error:
        raise DolmenError(
            "invalid-argument", f"{path} cannot be written: {error.strerror or error}.", "Choose another folder."
        ) from error
