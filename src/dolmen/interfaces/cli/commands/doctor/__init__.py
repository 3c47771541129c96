"""`dolmen doctor`: what is wrong, why, and what to do. Each file looks at one thing; `finding` is what they report."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping

import click

from dolmen.interfaces.cli.commands.doctor import clients, hooks, machine, model, server, store, symbols
from dolmen.interfaces.cli.commands.doctor.finding import Finding, Level
from dolmen.interfaces.cli.exits import FAILED
from dolmen.interfaces.cli.here import Here, command

_MARKS: Mapping[Level, tuple[str, str]] = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "fail": ("✗", "red")}

_MARGIN = " " * 15
"""What is found out stands to the right of it."""


@click.command()
@click.option("--quick", is_flag=True, help="Do not load the model or check its weights.")
@command
def doctor(here: Here, quick: bool) -> None:
    """Find what is wrong, say why and what to do.

    Changes nothing. Exit code 1 when something fails; warnings do not count.
    """
    findings = list(_examine(here, quick=quick))
    counts = Counter(each.level for each in findings)
    out = here.out
    lines = []
    for each in findings:
        mark, colour = _MARKS[each.level]
        lines += out.lines(each.what, f"{out.style(mark, fg=colour)} {each.name.ljust(12)} ", _MARGIN)
        lines += map(out.dim, out.lines(each.fix, f"{_MARGIN}fix: ", _MARGIN))
    lines += ["", f"{counts['ok']} fine, {counts['warn']} to look at, {counts['fail']} wrong"]
    value = [{"name": each.name, "level": each.level, "what": each.what, "fix": each.fix} for each in findings]
    out.result({"findings": value, "counts": {level: counts[level] for level in _MARKS}}, lines)
    if counts["fail"]:
        sys.exit(FAILED)


def _examine(here: Here, *, quick: bool) -> Iterator[Finding]:
    yield from machine.settings(here)
    settings = here.settings
    yield from machine.computer(settings)
    yield from store.store(here)
    yield from model.model(settings, quick=quick)
    yield from symbols.symbols()
    yield from model.reranker(settings, quick=quick)
    yield from model.chat(settings, quick=quick)
    yield from server.server(settings)
    yield from machine.logs(settings)
    yield from clients.clients(settings)
    yield from hooks.hooks(settings)
