"""Writes the stored snapshots of every tool's schema and the token counts anew: `python -m tests.snapshots.write`.

Both are reviewed files: what changes in them changes what every agent reads in every conversation.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

from dolmen.interfaces.mcp import footprint
from dolmen.interfaces.mcp.registry import Face, faces

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # it reads its tables in an old way
    import bpe_openai

FOLDER = Path(__file__).parent / "tools"
FIGURES = Path(footprint.__file__).with_name("footprint.json")


def tokens(text: str) -> int:
    """cl100k tokens."""
    return len(bpe_openai.get_encoding("cl100k_base").encode(text))


def path_of(face: Face, tool: str) -> Path:
    return FOLDER / face.toolset / f"{tool}.json"


def written(wire: object) -> str:
    """A tool or a table of figures as its file holds it."""
    return json.dumps(wire, ensure_ascii=False, indent=2) + "\n"


def figures() -> footprint.Footprint:
    return {toolset: footprint.measure(face, tokens) for toolset, face in faces().items()}


def main() -> None:
    for face in faces().values():
        for tool in face.tools:
            path = path_of(face, tool.name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(written(tool.wire()), encoding="utf-8")
    FIGURES.write_text(written(figures()), encoding="utf-8")


if __name__ == "__main__":
    main()
