"""Runs the judges and prints what they said as Markdown; exit code 1 when one of them found a fault."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from bench.conformance import agents, authorization, inspector, packages, sessions, suite


def _suite(home: Path) -> tuple[list[str], bool]:
    judged = suite.judge(home)
    lines = [
        f"Conformance suite {packages.version(packages.SUITE)}",
        "",
        "| revision | server | scenarios passed | failed | checks passed | optional, failed |",
        "|---|---|---|---|---|---|",
    ]
    for one in judged:
        failed = ", ".join(one.failed) or "none"
        optional = ", ".join(one.optional_failed) or "none"
        lines.append(f"| {one.revision} | {one.server} | {len(one.passed)} | {failed} | {one.checks} | {optional} |")
    return lines, all(one.conforms for one in judged)


def _authorization(home: Path) -> tuple[list[str], bool]:
    judged = authorization.judge(home)
    lines = [
        f"Authorization server, conformance suite {packages.version(packages.SUITE)}",
        "",
        "| revision | scenarios passed | failed | checks passed |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {each.revision} | {', '.join(each.passed)} | {', '.join(each.failed) or 'none'} | {each.checks} |"
        for each in judged
    ]
    seen = authorization.inspect(home / "inspector")
    lines += ["", f"Inspector {packages.version(packages.INSPECTOR)}, command line", ""]
    lines += ["| waits at | result |", "|---|---|", *(f"| {where} | {said} |" for where, said in seen.items())]
    return lines, all(said.startswith("signed in") for said in seen.values()) and all(each.conforms for each in judged)


def _inspector(home: Path) -> tuple[list[str], bool]:
    rows = inspector.inspect(home)
    lines = [f"Inspector {packages.version(packages.INSPECTOR)}", "", "| transport | era | result |", "|---|---|---|"]
    lines += [f"| {transport} | {era} | {result} |" for transport, era, result in rows]
    return lines, all(result == "listed and called" for _, _, result in rows)


def _clients(home: Path) -> tuple[list[str], bool]:
    seen = agents.meet(home)
    lines = ["Clients", "", "| client | version | how | what it said |", "|---|---|---|---|"]
    lines += [f"| {one.client} | {one.version} | {one.how} | {one.said} |" for one in seen]
    return lines, all(one.healthy for one in seen)


def _sessions(home: Path) -> tuple[list[str], bool]:
    held = sessions.hold(home)
    lines = ["Sessions with hooks", "", "| client | version | the model is told | what is kept |", "|---|---|---|---|"]
    lines += [f"| {one.client} | {one.version} | {'yes' if one.context else 'no'} | {one.kept} |" for one in held]
    return lines, all(one.healthy for one in held)


JUDGES: dict[str, Callable[[Path], tuple[list[str], bool]]] = {
    "suite": _suite,
    "authorization": _authorization,
    "inspector": _inspector,
    "clients": _clients,
    "sessions": _sessions,
}


def main(wanted: list[str]) -> int:
    if unknown := [name for name in wanted if name not in JUDGES]:
        print(f"There is no {unknown[0]!r}; use {', '.join(JUDGES)}.", file=sys.stderr)
        return 2
    packages.install()
    print(f"{datetime.now(UTC):%Y-%m-%d}\n")
    fine = True
    for name in wanted or JUDGES:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
            lines, good = JUDGES[name](Path(home))
        print("\n".join(lines), end="\n\n", flush=True)
        fine = fine and good
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
