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


def differences(steps: Sequence[Step], out: Output | None) -> Iterator[str]:
    """A unified diff of each file; in colour where there is an output for people."""
    for step in steps:
        before, after = step.change.before or "", step.change.after or ""
        name = str(step.change.file)
        yield from _drawn(
            difflib.unified_diff(
                before.splitlines(), after.splitlines(), name, name if step.change.after is not None else "(removed)",
                lineterm="", n=_CONTEXT,
            ),
            out,
        )  # fmt: skip


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
