"""The Inspector in CLI mode lists and calls the product's tools: both transports, both protocol eras."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from bench.conformance import packages, servers

ERAS = ("legacy", "modern", "auto")


def inspect(home: Path) -> list[tuple[str, str, str]]:
    """(transport, era, what happened) of every combination; `listed and called` is what should happen."""
    environment = packages.environment(home)
    rows = []
    with servers.product(environment) as url:
        for era in ERAS:
            target = ["--server-url", url, "--transport", "http"]
            rows.append(("HTTP", era, _both(environment, [*target, "--protocol-era", era], [])))
    for era in ERAS:
        started = ["--", sys.executable, "-m", "dolmen", "mcp"]
        rows.append(("stdio", era, _both(environment, ["--protocol-era", era], started)))
    return rows


def _both(environment: dict[str, str], options: list[str], command: list[str]) -> str:
    listed = _run(environment, [*options, "--method", "tools/list", "--strict", *command])
    if listed.returncode != 0:
        return f"tools/list: exit {listed.returncode} {listed.stderr[-200:]}"
    tools = json.loads(listed.stdout)["result"]["tools"]
    memory = json.dumps({"memories": [{"content": "The Inspector was here."}]})
    for tool, arguments in (("remember", memory), ("recall", json.dumps({"query": "inspector"}))):
        call = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", arguments]
        answer = _run(environment, [*options, *call, *command])
        if answer.returncode != 0 or json.loads(answer.stdout)["result"].get("isError"):
            return f"{tool}: exit {answer.returncode} {answer.stdout[-200:]} {answer.stderr[-200:]}"
    found = json.loads(answer.stdout)["result"]["structuredContent"]["claims"]
    return "listed and called" if len(tools) == 13 and found else f"{len(tools)} tools, {len(found)} claims"


def _run(environment: dict[str, str], arguments: list[str]) -> subprocess.CompletedProcess[str]:
    command = [str(packages.BIN / "node"), str(packages.BIN / "mcp-inspector"), "--cli", "--format", "json", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
