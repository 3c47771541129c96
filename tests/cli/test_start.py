"""How the program starts: fast, with little, and with one table for everything that it lists."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from dolmen.domain.errors import CODES
from dolmen.interfaces.cli.exits import BY_CODE, MEANINGS
from dolmen.interfaces.cli.main import COMMANDS, cli

pytestmark = pytest.mark.slow

HEAVY = ("mcp", "numpy", "onnxruntime", "starlette", "uvicorn", "pydantic", "httpx2", "jsonschema", "psycopg")
LIGHT = (["--help"], ["key", "list"], ["memory", "list"], ["project", "which"], ["review", "list"], ["settings"])


def commands(
    command: click.Command = cli, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command that does something, with its path."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from commands(found, (*path, name))
    else:
        yield path, command


def start(words: list[str], url: str, *more: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "DOLMEN_DATABASE": url, "DOLMEN_EMBEDDER": "none"}
    return subprocess.run(
        [sys.executable, *more, "-m", "dolmen", *words], env=environment, capture_output=True, check=False
    )


@pytest.mark.parametrize("words", LIGHT, ids=" ".join)
def test_a_light_command_imports_no_protocol_and_no_model(words: list[str], sqlite_url: str) -> None:
    start(["memory", "add", "Deploys happen on Tuesday"], sqlite_url)
    done = start(words, sqlite_url, "-X", "importtime")
    assert done.returncode == 0, done.stderr.decode()
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.decode().splitlines()}
    assert "click" in imported
    assert imported & set(HEAVY) == set()


def test_the_list_of_keys_loads_nothing_that_writes_memory(sqlite_url: str) -> None:
    start(["key", "create", "codex"], sqlite_url)
    loaded = start(["key", "list"], sqlite_url, "-X", "importtime").stderr
    assert b"dolmen.services.groups" in loaded
    assert b"dolmen.services.recording" not in loaded


def processor_time(words: list[str], environment: dict[str, str]) -> float:
    """Of one run, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("words", LIGHT[:2], ids=" ".join)
def test_a_light_command_takes_no_more_than_five_times_an_import(
    words: list[str], sqlite_url: str, tmp_path: Path
) -> None:
    """On a machine of its own `import click` takes 35 ms and such a command 140, of 150 that it may. A busy one is
    slower for both, and a little more for the command, so they take turns."""
    start(["memory", "add", "Deploys happen on Tuesday"], sqlite_url)
    environment = {**os.environ, "DOLMEN_DATABASE": sqlite_url}
    environment |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(tmp_path / "compiled")}
    pairs = [
        (processor_time(["-m", "dolmen", *words], environment), processor_time(["-c", "import click"], environment))
        for _ in range(6)
    ][1:]  # the first compiles
    least, imported = (min(times) for times in zip(*pairs, strict=True))
    assert least < 5 * imported


def test_the_help_lists_each_command_as_the_command_describes_itself() -> None:
    context = click.Context(cli, **cli.context_settings)
    for name, entry in COMMANDS.items():
        command = cli.get_command(context, name)
        assert command is not None
        assert (command.get_short_help_str(limit=200) or "").rstrip(".") == entry.help.rstrip("."), name


def test_every_command_answers_in_json_too() -> None:
    without = [path for path, command in commands() if "as_json" not in {each.name for each in command.params}]
    assert without == [("hook",), ("completion",)], (
        "a client reads the one's result in a form of its own, a shell the other's"
    )


def test_every_argument_and_option_is_explained() -> None:
    silent = [
        (*path, each.name)
        for path, command in commands()
        for each in command.params
        if isinstance(each, click.Option)
        and not each.help
        and each.name not in ("order", "limit", "mode", "toolset", "status")
    ]
    assert silent == []


def test_every_error_has_an_exit_code_and_every_exit_code_a_meaning() -> None:
    assert set(BY_CODE) == CODES
    assert set(BY_CODE.values()) <= set(MEANINGS)


def test_what_destroys_can_be_rehearsed_or_asks() -> None:
    destroying = {
        ("memory", "purge"), ("key", "revoke"), ("person", "remove"), ("demo",), ("project", "alias"), ("install",),
        ("uninstall",), ("vault", "remove"), ("person", "reset-second-factor"),
    }  # fmt: skip
    asking = {path for path, command in commands() if "yes" in {each.name for each in command.params}}
    assert asking == destroying
    rehearsed = {path for path, command in commands() if "dry_run" in {each.name for each in command.params}}
    assert rehearsed == {
        ("memory", "purge"), ("memory", "forget"), ("memory", "add"), ("import",), ("install",), ("uninstall",),
        ("consolidate",), ("note", "new"), ("vault", "remove"), ("mirror",),
    }  # fmt: skip


def test_colours_are_for_terminals_that_want_them(sqlite_url: str) -> None:
    import pty

    start(["memory", "add", "Deploys happen on Tuesday"], sqlite_url)
    seen = {}
    for no_colour in ("", "1"):
        master, slave = pty.openpty()
        environment = {**os.environ, "DOLMEN_DATABASE": sqlite_url, "TERM": "xterm", "NO_COLOR": no_colour}
        subprocess.run([sys.executable, "-m", "dolmen", "memory", "list"], env=environment, stdout=slave, check=True)
        os.close(slave)
        seen[no_colour] = os.read(master, 100_000)
        os.close(master)
    assert b"\x1b[" in seen[""]
    assert b"\x1b[" not in seen["1"]
    assert b"\x1b[" not in start(["memory", "list"], sqlite_url).stdout


def test_a_reader_that_leaves_early_is_no_error(sqlite_url: str) -> None:
    for n in range(3):
        start(["memory", "add", f"Statement {n} " + "x" * 7000], sqlite_url)
    environment = {**os.environ, "DOLMEN_DATABASE": sqlite_url}
    with subprocess.Popen(
        [sys.executable, "-m", "dolmen", "export"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        process.wait()
    assert b"Traceback" not in said
    assert b"inside Dolmen" not in said


def test_text_from_standard_input_is_stored_byte_for_byte(sqlite_url: str) -> None:
    text = "줄 하나\r\n\ttab  \u2028 🚚 'quoted' \"twice\"\n\n끝"
    environment = {**os.environ, "DOLMEN_DATABASE": sqlite_url, "PYTHONUTF8": "0", "LC_ALL": "C"}
    run = [sys.executable, "-m", "dolmen", "memory"]
    added = subprocess.run(
        [*run, "add", "--stdin", "--json"], input=text.encode(), env=environment, capture_output=True, check=True
    )
    ref = json.loads(added.stdout)["ref"]
    shown = subprocess.run([*run, "show", ref, "--json"], env=environment, capture_output=True, check=True)
    assert json.loads(shown.stdout)["memory"]["text"] == text


def test_an_unexpected_failure_names_itself_and_hides_the_trace(tmp_path: Path) -> None:
    environment = {**os.environ, "DOLMEN_DATABASE": f"sqlite:///{tmp_path}/x.db", "COLUMNS": "not a number"}
    run = [sys.executable, "-c", "import sys; sys.modules['dolmen.services.listing'] = None\n"
           "from dolmen.interfaces.cli.main import main; sys.argv = ['dolmen', 'memory', 'list']; main()"]  # fmt: skip
    done = subprocess.run(run, env=environment, capture_output=True, check=False)
    assert done.returncode == 70
    assert b"Traceback" not in done.stderr
    assert b"DOLMEN_LOG=debug" in done.stderr
    done = subprocess.run(run, env=environment | {"DOLMEN_LOG": "debug"}, capture_output=True, check=False)
    assert b"Traceback" in done.stderr
