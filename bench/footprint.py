"""What each toolset costs an agent's context: `python -m bench.footprint [--json]`.

Counts the cl100k tokens of the whole `tools/list`, as it is sent, and of the instructions, and compares them with the
figures stored in the program. Exit code 1 when one differs or is over its limit.
"""

from __future__ import annotations

import argparse
import json

import bpe_openai

from dolmen.interfaces.mcp.footprint import INSTRUCTIONS_LIMIT, LIMITS, Footprint, measure, stored
from dolmen.interfaces.mcp.registry import faces


def counted() -> Footprint:
    encoding = bpe_openai.get_encoding("cl100k_base")
    return {toolset: measure(face, lambda text: len(encoding.encode(text))) for toolset, face in faces().items()}


def table(now: Footprint, kept: Footprint) -> str:
    """A Markdown table, one toolset a row."""
    lines = [
        "| toolset | tools | tokens of `tools/list` | stored | limit | tokens of the instructions | limit |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for toolset, figures in now.items():
        before = kept.get(toolset, {}).get("list", "none")
        limit = LIMITS.get(toolset, "")
        lines.append(
            f"| {toolset} | {figures['tools']} | {figures['list']:,} | {before} | {limit} "
            f"| {figures['instructions']} | {INSTRUCTIONS_LIMIT} |"
        )
    return "\n".join(lines)


def within(now: Footprint) -> bool:
    return all(
        figures["list"] <= LIMITS.get(toolset, figures["list"]) and figures["instructions"] <= INSTRUCTIONS_LIMIT
        for toolset, figures in now.items()
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.footprint", description=__doc__)
    parser.add_argument("--json", action="store_true", help="the counted figures as JSON")
    as_json = parser.parse_args().json
    now, kept = counted(), stored()
    print(json.dumps(now, indent=2) if as_json else table(now, kept))
    return int(now != kept or not within(now))


if __name__ == "__main__":
    raise SystemExit(main())
