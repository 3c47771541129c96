"""A marked block in a Markdown file of instructions: added, brought up to date, removed, and nothing else touched."""

from __future__ import annotations

import re

START, END = "<!-- dolmen:start -->", "<!-- dolmen:end -->"

_BLOCK = re.compile(re.escape(START) + r".*?" + re.escape(END) + r"(?:\r?\n)?", re.DOTALL)


def put(text: str, content: str) -> str:
    """The text with the block: in its place when it is there, else at the end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    block = newline.join([START, *content.strip().splitlines(), END]) + newline
    if _BLOCK.search(text):
        return _BLOCK.sub(lambda _: block, text, count=1)
    gap = newline if text else ""  # an empty line, or, after a last line without an end, that end: `drop` sees which
    return f"{text}{gap}{block}"


def drop(text: str) -> str:
    """The text without the block and the line end that was put before it."""
    found = _BLOCK.search(text)
    if found is None:
        return text
    head, rest = text[: found.start()], text[found.end() :]
    return re.sub(r"\r?\n\Z", "", head) + rest if not rest.strip() else head + rest
