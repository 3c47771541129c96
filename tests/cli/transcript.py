"""Runs a transcript: what somebody types and what they see, one file per story.

    # A comment, at the top or after a blank line.
    $ dolmen memory add "Deploys happen on Tuesday"
    <ref> stored: fact in user
    $ dolmen memory show <ref>
    …
    $ dolmen memory show 000000
    2> error: No memory has an id like '000000'.
    2>   fix: …
    [3]

`dolmen` (also `NAME=value dolmen`) runs in this process, on a real store; other commands run in a shell. `a | dolmen b`
gives it what `a` prints. `…` stands for any part of a line, and alone on a line for any lines; two spaces inside a line
stand for the gap between columns, spaces or tabs, however wide; `<name>` takes a word, and stands for it from then on.
Lines that start with `2>` are standard error; `[n]` is an exit code that is not 0.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from click.testing import CliRunner

from dolmen.interfaces.cli.main import cli

_NAME = re.compile(r"<([a-z_]+)>")
_OURS = re.compile(r"(?:[A-Z_]+=\S* )*dolmen ")
_ANY = "…"
_SPACES = re.compile(r"(?:\\ ){2,}")
"""Between columns, in an escaped pattern: how far they stand apart depends on what else is in the table."""


@dataclass(slots=True)
class Step:
    line: int
    """Of the command in the file."""
    command: str
    expected: list[str] = field(default_factory=list)
    code: int = 0

    def side(self, errors: bool) -> list[str]:
        """What is expected on standard output or standard error."""
        if errors:
            return [each.removeprefix("2>").removeprefix(" ") for each in self.expected if each.startswith("2>")]
        return [each for each in self.expected if not each.startswith("2>")]


def parse(text: str) -> list[Step]:
    steps: list[Step] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("# ") and (not steps or (steps[-1].expected and not steps[-1].expected[-1])):
            continue
        if line.startswith("$ "):
            steps.append(Step(number, line[2:]))
        elif found := re.fullmatch(r"\[(\d+)\]", line):
            steps[-1].code = int(found[1])
        elif steps:
            steps[-1].expected.append(line)
    for step in steps:
        while step.expected and not step.expected[-1]:
            step.expected.pop()  # blank lines between steps are for the reader
    return steps


def run(file: Path, environment: dict[str, str]) -> None:
    """Plays a transcript in the current directory; an AssertionError says which line went otherwise."""
    known: dict[str, str] = {}
    for step in parse(file.read_text(encoding="utf-8")):
        command = _filled(step.command, known)
        code, out, errors = _run(command, environment)
        where = f"{file.name}:{step.line}: $ {command}\n--- stdout\n{out}--- stderr\n{errors}--- exit code {code}"
        assert code == step.code, where
        for expected, got in ((step.side(False), out), (step.side(True), errors)):
            found = _match(expected, got.splitlines(), known)
            assert found is not None, f"{where}\n--- expected\n" + "\n".join(expected)
            known |= found


def _filled(command: str, known: dict[str, str]) -> str:
    return _NAME.sub(lambda name: known.get(name[1], name[0]), command)


def _run(command: str, environment: dict[str, str]) -> tuple[int, str, str]:
    before, _, own = command.rpartition("| dolmen ")
    if not before and not _OURS.match(command):
        done = subprocess.run(command, shell=True, capture_output=True, check=False)  # noqa: S602 - the test's own words
        return done.returncode, done.stdout.decode(), done.stderr.decode()
    given = subprocess.run(before, shell=True, capture_output=True, check=True).stdout if before else b""  # noqa: S602
    words = shlex.split(f"dolmen {own}" if before else own)
    settings = dict(
        words.pop(0).split("=", 1) for _ in range(next(n for n, word in enumerate(words) if "=" not in word))
    )
    result = CliRunner().invoke(cli, words[1:], input=given, env=environment | settings, prog_name="dolmen")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def _match(expected: list[str], got: list[str], known: dict[str, str]) -> dict[str, str] | None:
    """The words that the names stand for, None when the lines differ."""
    pattern = "".join(
        r"(?:.*\n)*" if line.strip() == _ANY else _line(line.rstrip(), known) + r"[ \t]*\n" for line in expected
    )
    seen: set[str] = set()
    names: list[str] = []

    def group(name: re.Match[str]) -> str:
        if name[1] in seen:
            return f"(?P={name[1]})"
        seen.add(name[1])
        names.append(name[1])
        return rf"(?P<{name[1]}>\S+)"

    pattern = re.sub(r"\x00([a-z_]+)\x00", group, pattern)
    found = re.fullmatch(pattern, "".join(line + "\n" for line in got))
    return None if found is None else {name: found[name] for name in names}


def _line(line: str, known: dict[str, str]) -> str:
    indent = len(line) - len(line.lstrip(" "))
    out = r"\ " * indent
    for part in re.split(f"({_ANY}|<[a-z_]+>)", line[indent:]):
        name = _NAME.fullmatch(part)
        if part == _ANY:
            out += ".*"
        elif name and name[1] in known:
            out += re.escape(known[name[1]])
        elif name:
            out += f"\0{name[1]}\0"
        else:
            out += _SPACES.sub(lambda _: r"[ \t]+", re.escape(part))
    return out
