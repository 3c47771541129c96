"""The changes as a person reads them before agreeing. No key is shown, neither ours nor another's."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

from dolmen.domain.secrets import redact
from dolmen.interfaces.cli.commands.install.planning import Step
from dolmen.interfaces.cli.output import Output

_BEARER = re.compile(r"(Bearer\s+)(?![$\[{])[^\s\"']+")
_CONTEXT = 1
"""Lines around a change: what stands there is no business of a screen."""
_ADDED = 12
"""Added lines that are shown of each file, unless all are asked for; what goes is always shown."""


def differences(steps: Sequence[Step], out: Output | None, *, full: bool = True) -> Iterator[str]:
    """A unified diff of each file; in colour where there is an output for people. Unless `full`, without most of what
    is added, and with what was left out."""
    for step in steps:
        before, after = step.change.before or "", step.change.after or ""
        name = str(step.change.file)
        lines = difflib.unified_diff(
            before.splitlines(), after.splitlines(), name, name if step.change.after is not None else "(removed)",
            lineterm="", n=_CONTEXT,
        )  # fmt: skip
        yield from _drawn(lines if full else _short(list(lines)), out)


def _short(lines: Sequence[str]) -> Iterator[str]:
    added = [n for n, line in enumerate(lines) if line.startswith("+") and n > 1]
    if len(added) <= _ADDED + 2:
        yield from lines
        return
    left_out = frozenset(added[_ADDED:])
    for n, line in enumerate(lines):
        if n == min(left_out):
            yield f"… and {len(left_out)} more added lines (--full shows them)"
        if n not in left_out:
            yield line


def _drawn(lines: Iterator[str], out: Output | None) -> Iterator[str]:
    for line in lines:
        said = hidden(line)
        if out is None:
            yield said
        elif line.startswith(("+++", "---")):
            yield out.bold(said)
        elif line.startswith("+"):
            yield out.style(said, fg="green")
        elif line.startswith("-"):
            yield out.style(said, fg="red")
        else:
            yield said


def hidden(line: str) -> str:
    """The line without what looks like a credential."""
    return redact(_BEARER.sub(r"\1…", line))[0]
