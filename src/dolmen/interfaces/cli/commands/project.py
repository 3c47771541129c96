"""`dolmen project`: which projects there are, which one this directory is, and what a renamed one was."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.cli.groups import CommandGroup
from dolmen.interfaces.cli.here import Here, command


@click.group(cls=CommandGroup)
def project() -> None:
    """List projects, name this one, join a renamed one."""


@project.command("list")
@command
def list_(here: Here) -> None:
    """List the projects and how many memories each has."""
    from dolmen.interfaces.cli import present
    from dolmen.services.scopes import projects

    with here.vault() as (rt, actor):
        found = projects(rt, actor)
    rows = [
        (
            each.name,
            f"{each.memories:,}",
            f"{each.proposed:,}" if each.proposed else "-",
            ", ".join(each.aliases),
        )
        for each in found
    ]
    headings = ("project", "memories", "proposed", "before")
    here.out.result({"projects": present.plain(found)}, here.out.listing(headings, rows, "No memories yet."))


@project.command()
@command
def which(here: Here) -> None:
    """Say which project this directory is, and why.

    The same that `dolmen mcp` takes when it is started here.
    """
    from dolmen.client import git, trust
    from dolmen.client.workplace import default_project

    identity = default_project(here.settings.project, Path.cwd())
    why = identity.why
    if identity.project is None and not git.installed():
        why = "git is not installed, so nothing could be asked."
    lines = [identity.project or "user", here.out.dim(why)]
    lines += [here.out.dim(f"inside {parent}") for parent in identity.parents]
    lines += [notice] if (notice := trust.notice(identity)) else []
    value = {"project": identity.project, "source": identity.source, "why": why, "parents": list(identity.parents)}
    here.out.result({**value, "unconfirmed": identity.unconfirmed}, lines)


@project.command()
@click.argument("name")
@command
def use(here: Here, name: str) -> None:
    """Name the project of this repository in a `.dolmen` file, or in its `.dolmen.toml` where it has one.

    Commit the file, and every clone and worktree is that project (it wins over the git remote), on machines where the
    person has confirmed it: `dolmen project trust`. Here you have by this.
    """
    from dolmen.client import git, trust
    from dolmen.domain.identity import normalize_project

    identity = normalize_project(name)
    folder = git.places(Path.cwd()).toplevel or Path.cwd()
    file = next((folder / name for name in git.OVERRIDE_FILES if (folder / name).is_file()), folder / git.OVERRIDE_FILE)
    said = f"project = {json.dumps(identity, ensure_ascii=False) if file.suffix else identity}"
    try:
        kept = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        tables = next((n for n, line in enumerate(kept) if line.lstrip().startswith("[")), len(kept))
        others = [line for line in kept[:tables] if line.partition("=")[0].strip().lower() != "project"]
        file.write_text("\n".join([*others, said, *kept[tables:]]) + "\n", encoding="utf-8", newline="\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DolmenError(
            "invalid-argument", f"{file} cannot be written: {error}.", "Choose another directory."
        ) from error
    trust.answer(git.trusting(folder)[0], identity, True)
    here.out.result({"project": identity, "file": str(file)}, [f"{identity}", here.out.dim(f"said in {file}")])


@project.command("trust")
@click.argument("directory", type=click.Path(exists=True, file_okay=False), default=".")
@click.option("--remove", is_flag=True, help="Follow the file no longer.")
@command
def trust_(here: Here, directory: str, remove: bool) -> None:
    """Let the `.dolmen` file of a checkout name its project on this machine.

    Whoever wrote the file names the project whose memory sessions there read and write. Until you confirm it, the git
    remote names the project. It holds for the named project only, in all worktrees of the repository.
    """
    from dolmen.client import git, trust

    place, named = git.trusting(Path(directory))
    if remove:
        before = trust.withdraw(place)
        said = f"No longer confirmed: {', '.join(before)}." if before else "Nothing was confirmed for it."
        here.out.result({"place": str(place), "withdrawn": list(before)}, [said])
        return
    if named is None:
        raise DolmenError(
            "not-found",
            f"No .dolmen file in {Path(directory).resolve()} or above it names a project.",
            "`dolmen project use NAME` writes one; `dolmen project which` says which project it is without.",
        )
    trust.answer(place, named, True)
    here.out.result({"place": str(place), "project": named}, [f"{named} is the project of this checkout from now on."])


@project.command()
@click.argument("old")
@click.argument("new")
@click.option("--force", is_flag=True, help="Also when OLD holds nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@command
def alias(here: Here, old: str, new: str, force: bool, yes: bool) -> None:
    """Join the memory of a project's OLD identity to its NEW one, after its remote was renamed or moved.

    OLD is another name of NEW from then on; `dolmen project unalias OLD` ends that, and the memories stay with NEW.
    """
    from dolmen.services.scopes import alias as join
    from dolmen.services.scopes import projects

    with here.vault() as (rt, actor):
        from dolmen.domain.identity import scope_of

        count = next((each.memories for each in projects(rt, actor) if each.scope == scope_of(old)), 0)
        if count:
            here.confirm(f"Move {_memories(count)} of {old} to {new}?", yes=yes)
        moved = join(rt, actor, old, new, force=force)
    here.out.result({"old": old, "new": new, "moved": moved}, [f"{old} is {new} now; {_memories(moved)} moved."])


def _memories(count: int) -> str:
    return f"{count:,} {'memory' if count == 1 else 'memories'}"


@project.command()
@click.argument("name")
@command
def unalias(here: Here, name: str) -> None:
    """Make a name that was joined to another project a project of its own again.

    The memories stay where they are; what is written under the name from now on is kept apart.
    """
    from dolmen.services.scopes import unalias as part

    with here.vault() as (rt, actor):
        joined = part(rt, actor, name)
    here.out.result({"name": name, "was": joined}, [f"{name} is a project again; the memories stay in {joined}."])
