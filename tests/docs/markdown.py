"""Reads the project's Markdown files as far as the checks need: links, headings, command lines."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

FENCE = re.compile(r"^(?P<mark>```+|~~~+)(?P<info>[^\n]*)\n(?P<body>.*?)^(?P=mark)\s*$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
SHELLS = ("sh", "bash", "shell", "console", "text", "")
ENDS_COMMAND = frozenset({"|", "||", "&&", ";", "&", ">", ">>", "<", "2>", "2>&1", "<<"})


def pages() -> list[Path]:
    """Every Markdown file that a reader is meant to read."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def links(text: str) -> list[str]:
    prose = INLINE.sub("", FENCE.sub("", text))
    return LINK.findall(prose)


def anchors(text: str) -> set[str]:
    """The fragments that a forge gives to the headings, and those that the page sets itself."""
    own = set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))
    seen: dict[str, int] = {}
    for heading in HEADING.findall(FENCE.sub("", text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        own.add(f"{slug}-{count}" if count else slug)
    return own


def command_lines(text: str, program: str) -> Iterator[list[str]]:
    """The words of each command line of PROGRAM, from shell blocks and from inline code that starts with it."""
    for fence in FENCE.finditer(text):
        if fence["info"].strip().split(" ")[0].lower() in SHELLS:
            for line in fence["body"].replace("\\\n", " ").splitlines():
                yield from _commands(line.strip().removeprefix("$ "), program)
    for code in INLINE.findall(FENCE.sub("", text)):
        if code.startswith(f"{program} "):
            yield from _commands(code, program)


def _commands(line: str, program: str) -> Iterator[list[str]]:
    try:
        words = shlex.split(line, comments=True)
    except ValueError:  # a quotation that goes on in the next line, or prose
        return
    while words:
        end = next((place for place, word in enumerate(words) if word in ENDS_COMMAND), len(words))
        command, words = words[:end], words[end + 1 :]
        while command and (re.fullmatch(r"[A-Z_]+=.*", command[0]) or command[0] in ("sudo", "exec", "time")):
            command = command[1:]
        if "--" in command:  # `claude mcp add dolmen -- /path/to/dolmen mcp`: the other program starts ours
            command = command[command.index("--") + 1 :]
        if command and command[0].rpartition("/")[2] == program:
            yield command[1:]
