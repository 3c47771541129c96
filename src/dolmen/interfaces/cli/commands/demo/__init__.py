"""`dolmen demo`: a small memory of an invented project, and what recall makes of it in two languages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dolmen.interfaces.cli.commands.demo import story
from dolmen.interfaces.cli.here import Here, command

if TYPE_CHECKING:
    from dolmen.domain.values import Actor
    from dolmen.services.requests import Pack
    from dolmen.services.runtime import Runtime

_SHOWN = 2


@click.command()
@click.option("--clean", is_flag=True, help="Take the example away again.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@command
def demo(here: Here, clean: bool, yes: bool) -> None:
    """Load a small example memory and recall from it.

    It goes to a store of its own, or to the one named with --database, there into a project of its own.
    """
    own = here.given("database") is None
    if own:
        here.flag(database=f"sqlite:///{_own_store().as_posix()}")
    if clean:
        _clean(here, own=own, yes=yes)
        return
    from dolmen.interfaces.cli.model import awaken

    with here.vault(models=True, create=True) as (rt, actor):
        stored = story.load(rt, actor)
        awaken(here, rt)
        answers = [(question, _ask(rt, actor, question)) for question in story.QUESTIONS]
        with rt.store.read() as tx:
            now = tx.now
    _say(here, stored, answers, now)


def _own_store() -> Path:
    from dolmen.settings import folders

    return folders.data() / "demo.db"


def _ask(rt: Runtime, actor: Actor, question: str) -> Pack:
    from dolmen.services.recall import recall
    from dolmen.services.requests import Recall

    return recall(rt, actor, Recall(query=question, project=story.PROJECT, limit=_SHOWN, record=False))


def _say(here: Here, stored: int, answers: list[tuple[str, Pack]], now: int) -> None:
    from dolmen.interfaces.cli import present
    from dolmen.interfaces.cli.commands.memory.reading import pack_json, pack_lines

    out = here.out
    told = f"{stored} memories of the project {story.PROJECT} are in {here.settings.database}."
    lines = [*out.lines(told), ""]
    for question, pack in answers:
        lines += [out.bold(f"? {question}"), *pack_lines(here, pack, now), ""]
    again = f"--database {here.settings.database}"
    lines += [
        out.dim("Ask more:      ") + f"dolmen memory search {again} --project {story.PROJECT} QUESTION",
        out.dim("Look around:   ") + f"dolmen memory list {again} --project {story.PROJECT}",
        out.dim("Decide:        ") + f"dolmen review list {again}",
        out.dim("Take it away:  ") + "dolmen demo --clean",
    ]
    value: dict[str, Any] = {
        "database": here.settings.database,
        "project": story.PROJECT,
        "stored": stored,
        "answers": [{"question": question, **pack_json(pack)} for question, pack in answers],
    }
    out.result(present.plain(value), lines)


def _clean(here: Here, *, own: bool, yes: bool) -> None:
    if own:
        file = _own_store()
        gone = [
            each for each in (file, *(file.with_name(file.name + end) for end in ("-wal", "-shm"))) if each.exists()
        ]
        if gone:
            here.confirm(f"Delete {file}?", yes=yes)
        for each in gone:
            each.unlink()
        here.out.result(
            {"deleted": [str(each) for each in gone]}, [f"{file} is gone." if gone else "Nothing to take away."]
        )
        return
    with here.vault() as (rt, actor):
        refs = story.refs(rt, actor)
        if refs:
            here.confirm(f"Destroy the {len(refs)} example memories for good?", yes=yes)
            story.purge(rt, actor, refs)
    here.out.result({"purged": refs}, [f"{len(refs)} example memories are gone."])
