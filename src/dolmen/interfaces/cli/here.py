"""What every command works with: its settings, the store when it asks for it, who acts, and where its words go."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar

import click

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.cli.exits import BY_CODE, FAILED
from dolmen.interfaces.cli.output import Output
from dolmen.interfaces.cli.visible import for_terminal

if TYPE_CHECKING:
    from dolmen.app import App
    from dolmen.domain.identity import ProjectIdentity
    from dolmen.domain.values import Actor
    from dolmen.services.runtime import Runtime
    from dolmen.settings import Loaded, Settings

P = ParamSpec("P")
R = TypeVar("R")

AGENT = "cli"
"""The name under which a person writes here."""


class Here:
    """One run of one command."""

    def __init__(self, *, as_json: bool, flags: dict[str, object]) -> None:
        self.out = Output(as_json=as_json)
        self._flags = flags
        self._loaded: Loaded | None = None
        self._identity: list[ProjectIdentity] = []

    def flag(self, **flags: object) -> None:
        """Adds flags of this command that are settings; None was not given."""
        self._flags.update(flags)

    def given(self, name: str) -> object:
        """The value of a flag; None when it was not given."""
        return self._flags.get(name)

    @property
    def flags(self) -> dict[str, object]:
        """The flags that are settings."""
        return dict(self._flags)

    @property
    def loaded(self) -> Loaded:
        if self._loaded is None:
            from dolmen.settings import load

            self._loaded = load(self._flags)
            self.out.zone = self.zone
            for warning in self._loaded.warnings:
                self.out.warn(warning)
        return self._loaded

    @property
    def settings(self) -> Settings:
        return self.loaded.settings

    @property
    def zone(self) -> str:
        """Where this person's days begin: as set, else this computer's zone."""
        from dolmen.interfaces.cli.zone import system_zone

        return self.settings.zone or system_zone()

    @property
    def missing(self) -> Path | None:
        """Where the store would be, when it is not there yet."""
        from dolmen.store.opening import file_of

        file = file_of(self.settings.database)
        return None if file is None or (file.is_file() and file.stat().st_size) else file

    def rehearse(self) -> None:
        """For a dry run: where there is no store yet, one that leaves no trace."""
        if self.missing is not None:
            self._loaded = replace(self.loaded, settings=replace(self.settings, database="sqlite:///:memory:"))

    @contextmanager
    def app(self, *, models: bool = False, create: bool = False) -> Iterator[App]:
        """The application, open; with `models`, for work that searches or embeds.

        Raises:
            DolmenError: `not-found` when the store is not there yet and the command is none that makes it (`create`).
        """
        from dolmen.app import open_app

        if not create and (missing := self.missing) is not None:
            raise _no_store(missing)
        with open_app(self.settings, models=models) as app:
            yield app

    @contextmanager
    def vault(
        self, *, models: bool = False, in_project: bool = False, create: bool = False
    ) -> Iterator[tuple[Runtime, Actor]]:
        """The runtime, and the person at the keyboard as its actor.

        Args:
            models, create: see `app`.
            in_project: find the default project out; for work that names none by itself.
        """
        from dolmen.services.accounts import local_actor

        with self.app(models=models, create=create) as app:
            person = local_actor(app.runtime, agent=AGENT, human=True)
            if in_project:
                person = replace(person, project=self.identity.project, parents=self.identity.parents)
            yield app.runtime, person

    @property
    def project(self) -> str | None:
        """The default project: as set, else that of the working directory; the same that `dolmen mcp` takes (B134)."""
        return self.identity.project

    @property
    def identity(self) -> ProjectIdentity:
        """The default project and, inside a submodule, those around it."""
        if not self._identity:
            self._identity.append(self.project_of(Path.cwd()))
        return self._identity[0]

    def project_of(self, directory: Path) -> ProjectIdentity:
        """The project of a directory. When a file there names one that nobody has confirmed, a person at the terminal
        is asked, once; everybody else is told.

        Raises:
            DolmenError: `invalid-project`.
        """
        from dolmen.client import git, trust
        from dolmen.client.workplace import default_project

        identity = default_project(self.settings.project, directory)
        if identity.unconfirmed is None:
            return identity
        place, _ = git.trusting(directory)
        if not self.asks or trust.answered(place, identity.unconfirmed) is not None:
            self.out.warn(trust.notice(identity))
            return identity
        question = (
            f"A .dolmen file in this folder names the project {trust.shown(identity.unconfirmed)}. Should sessions "
            f"here read and write its memory, instead of that of {identity.project or 'no project'}?"
        )
        trust.answer(place, identity.unconfirmed, click.confirm(for_terminal(question), err=True))
        return default_project(self.settings.project, directory)

    @property
    def asks(self) -> bool:
        """Whether somebody is there to answer."""
        return not self.out.as_json and sys.stdin.isatty() and sys.stderr.isatty()

    def confirm(self, question: str, *, yes: bool) -> None:
        """Asks before something is destroyed.

        Raises:
            DolmenError: `invalid-argument` when nobody can answer; SystemExit for a no.
        """
        if yes:
            return
        if self.out.as_json or not sys.stdin.isatty():
            raise DolmenError("invalid-argument", f"{question} Nobody is there to answer.", "Pass --yes to say so.")
        if not click.confirm(for_terminal(question), err=True):
            click.echo("Nothing was changed.", err=True)
            sys.exit(FAILED)

    def edited(self, text: str) -> str:
        """What a person made of the text in their editor.

        Raises:
            click.Abort: the editor was closed without saving, which is said.
        """
        written = click.edit(text, extension=".md")
        if written is None:
            self.out.note("The editor was closed without saving: nothing was changed.")
            raise click.Abort
        return written


def _no_store(file: Path) -> DolmenError:
    if file.is_dir():
        return DolmenError("not-found", f"{file} is a folder, not a store.", "Name a file in DOLMEN_DATABASE.")
    return DolmenError(
        "not-found",
        f"There is no memory at {file} yet.",
        "`dolmen serve`, `dolmen mcp`, `dolmen memory add` and `dolmen import` make it. `dolmen settings` says where "
        "that place is set; --database or DOLMEN_DATABASE names another one.",
    )


def command(function: Callable[..., R]) -> Callable[..., R]:
    """Gives a command the options that all have, a `Here` in their place, and one way to fail."""

    @click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
    @click.option("--vault", metavar="NAME", help="The vault, instead of the one in the settings.")
    @click.option("--database", metavar="URL", help="The store, instead of the one in the settings.")
    @click.option("--config", metavar="FILE", help="The configuration file, instead of the usual one.")
    @functools.wraps(function)
    def run(
        *args: Any, as_json: bool, vault: str | None, database: str | None, config: str | None, **options: Any
    ) -> R:
        here = Here(as_json=as_json, flags={"vault": vault, "database": database, "config": config})
        try:
            return function(here, *args, **options)
        except DolmenError as error:
            fail(here, error)
        except (click.ClickException, click.Abort, click.exceptions.Exit, BrokenPipeError):
            raise
        except Exception as error:
            unexpected(here, error)

    return run


def fail(here: Here, error: DolmenError) -> NoReturn:
    """Says what is wrong and ends with the code of the table."""
    here.out.error(error.message, error.fix, error.as_dict())
    sys.exit(BY_CODE[error.code])


def unexpected(here: Here, error: Exception) -> NoReturn:
    """A mistake of the program: the trace only for whoever asks for it."""
    import os
    import traceback

    if os.environ.get("DOLMEN_LOG", "").lower() == "debug":
        traceback.print_exception(error, file=sys.stderr)
    fail(
        here,
        DolmenError(
            "internal",
            f"Something went wrong inside Dolmen ({type(error).__name__}).",
            "Run it again with DOLMEN_LOG=debug for the details, and report them.",
        ),
    )
