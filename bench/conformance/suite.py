"""The official conformance suite: every scenario that a revision requires, on the fixture; and what applies to any
server, on the product itself."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench.conformance import packages, servers

REVISIONS = ("2025-11-25", "2026-07-28")
ON_THE_PRODUCT = {
    "2025-11-25": ("server-initialize", "ping", "tools-list", "dns-rebinding-protection"),
    "2026-07-28": ("tools-list", "dns-rebinding-protection", "http-header-validation"),
}
"""Scenarios that call no tool, resource or prompt of the fixture."""

_LINE = re.compile(r"^[✓✗] (\S+): (\d+) passed, (\d+) failed", re.M)
_UNSCORED = re.compile(r"^  [✓✗] (\S+) \(", re.M)


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of the scenarios of one run."""

    server: str
    revision: str
    passed: tuple[str, ...]
    failed: tuple[str, ...]
    checks: int
    """Checks that passed in scored scenarios."""
    optional_failed: tuple[str, ...] = ()
    """Not required by the revision: extensions, pending scenarios."""

    @property
    def conforms(self) -> bool:
        return not self.failed and bool(self.passed)


def judge(home: Path) -> list[Judged]:
    with servers.fixture() as url:
        results = [_required(url, revision) for revision in REVISIONS]
    with servers.product(packages.environment(home)) as url:
        results += [_chosen(url, revision, scenarios) for revision, scenarios in ON_THE_PRODUCT.items()]
    return results


def _required(url: str, revision: str) -> Judged:
    output = _suite("--url", url, "--requirements", revision, "-o", str(packages.FOLDER / f"results-{revision}"))
    unscored = set(_UNSCORED.findall(output))
    lines = [(name, int(passed), int(failed)) for name, passed, failed in _LINE.findall(output)]
    scored = [line for line in lines if line[0] not in unscored]
    return Judged(
        "fixture on the product's stack",
        revision,
        tuple(name for name, _, failed in scored if not failed),
        tuple(name for name, _, failed in scored if failed),
        sum(passed for _, passed, _ in scored),
        tuple(name for name, _, failed in lines if failed and name in unscored),
    )


def _chosen(url: str, revision: str, scenarios: tuple[str, ...]) -> Judged:
    passed, failed, checks = [], [], 0
    for scenario in scenarios:
        output = _suite("--url", url, "--scenario", scenario, "--spec-version", revision)
        found = re.search(r"Passed: (\d+)/(\d+), (\d+) failed", output)
        good = found is not None and found[3] == "0"
        (passed if good else failed).append(scenario)
        checks += int(found[1]) if found else 0
    return Judged("dolmen serve", revision, tuple(passed), tuple(failed), checks)


def _suite(*arguments: str) -> str:
    program = packages.FOLDER / "node_modules" / packages.SUITE / "dist" / "index.js"
    command = [str(packages.BIN / "node"), str(program), "server", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=900, check=False).stdout
