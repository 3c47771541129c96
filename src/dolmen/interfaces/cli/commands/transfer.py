"""`dolmen export` and `dolmen import`: everything that was written, as JSON Lines."""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Literal

import click

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.cli.exits import FAILED
from dolmen.interfaces.cli.here import Here, command


@click.command("export")
@click.argument("file", default="-", metavar="[FILE]", type=click.Path(dir_okay=False, allow_dash=True))
@command
def export_(here: Here, file: str) -> None:
    """Write everything that was remembered to a file.

    JSON Lines with all times, history, links, proposals and feedback, from one moment; to standard output without
    FILE, compressed when its name ends in .gz. Its first line says what is left out: keys, audit, search index.
    """
    from dolmen.services.transfer import export

    progress = here.out.progress("exporting")
    count = 0
    with here.vault() as (rt, actor), _target(file) as target:
        for count, line in enumerate(export(rt, actor), 1):
            target.write(line + "\n")
            progress(count)
    progress.end()
    if file != "-":
        here.out.result({"file": file, "lines": count}, [f"{count} lines written to {file}"])


@contextmanager
def _target(file: str) -> Iterator[IO[str]]:
    """Standard output, or a file that appears under its name only when it is complete."""
    if file == "-":
        out = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="\n", write_through=False)
        try:
            yield out
            out.flush()
        finally:
            out.detach()
        return
    path = Path(file)
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # memories are private
        with _open(draft, "wt", packed=path.suffix == ".gz") as written:
            yield written
        draft.replace(path)
    except OSError as error:
        raise DolmenError(
            "invalid-argument",
            f"{file} cannot be written: {error.strerror or error}.",
            "Make its folder, or choose another file.",
        ) from error
    finally:
        draft.unlink(missing_ok=True)


def _open(path: Path, mode: Literal["rt", "wt"], *, packed: bool) -> IO[str]:
    if packed:
        return gzip.open(path, mode, encoding="utf-8", errors="replace", newline="\n")
    return path.open(mode, encoding="utf-8", errors="replace", newline="\n")


@click.command("import")
@click.argument("file", metavar="FILE", type=click.Path(dir_okay=False, allow_dash=True))
@click.option("--dry-run", is_flag=True, help="Check every line and say what would happen.")
@command
def import_(here: Here, file: str, dry_run: bool) -> None:
    """Read in what `dolmen export` or `kenfold export` wrote.

    Ids, times and history stay. What is here already is left as it is, so a broken-off import is simply started again.
    A line that is wrong or holds a secret is left out and named, and the exit code is 1.
    """
    from dolmen.services.transfer import import_ as read_in

    if dry_run:
        here.rehearse()
    progress = here.out.progress("importing")
    with _source(file) as source, here.vault(create=True) as (rt, actor):
        report = read_in(rt, actor, source, dry_run=dry_run, progress=progress)
    progress.end()
    done = "would be imported" if dry_run else "imported"
    lines = [f"{count:,} {_plural(name, count)} {done}" for name, count in sorted(report.imported.items())]
    lines += [
        f"{count:,} {_plural(name, count)} {_was(count)} here already" for name, count in sorted(report.present.items())
    ]
    lines += [f"{report.same_words:,} of them under another id"] if report.same_words else []
    out = here.out
    out.result(
        {
            "dry_run": dry_run,
            "imported": dict(report.imported),
            "present": dict(report.present),
            "same_words": report.same_words,
            "refused": [{"line": each.line, "code": each.code, "message": each.message} for each in report.refused],
            "refusals": report.refusals,
            "lines": report.lines,
            "complete": report.complete,
        },
        lines or ["Nothing to import."],
    )
    if not out.as_json:
        if report.imported["memory"] and not dry_run and here.settings.embedder != "none":
            out.note("Found by words now; a server makes the vectors, or `dolmen reindex --vectors-only`.")
        for each in report.refused:
            out.warn(f"line {each.line} left out: {each.message}")
        if report.refusals > len(report.refused):
            out.warn(f"{report.refusals - len(report.refused)} more lines left out")
        if not report.complete:
            out.warn("the file has no matching last line: it may be incomplete")
    if report.refusals or not report.complete:
        sys.exit(FAILED)


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def _plural(name: str, count: int) -> str:
    name = name.replace("_", " ")
    if count == 1 or name == "feedback":
        return name
    return name[:-1] + "ies" if name.endswith("y") else name + ("es" if name.endswith("s") else "s")


@contextmanager
def _source(file: str) -> Iterator[IO[str]]:
    try:
        if file == "-":
            yield io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace", newline="\n")
            return
        with _open(Path(file), "rt", packed=file.endswith(".gz")) as source:
            yield source
    except FileNotFoundError as error:
        raise DolmenError(
            "not-found", f"There is no file {file}.", "Name one that `dolmen export` wrote, or - for standard input."
        ) from error
    except (OSError, EOFError) as error:
        raise DolmenError(
            "not-found", f"{file} cannot be read: {error}.", "Check its permissions, or export it anew."
        ) from error
