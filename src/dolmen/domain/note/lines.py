"""Line forms inside of a note: `- [kind] text #tags` states something, `- rel_type [[Target]]` is a link."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from dolmen.domain.memory import TAG_LIMIT, TAGS_LIMIT

_MARKER = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+|$)", re.MULTILINE)
# A kind is a word: one character is a task's box, a link or footnote follows its bracket at once.
_OBSERVATION = re.compile(r"\[(?P<kind>[^\W\d_][\w -]{1,63})\][ \t]+(?=\S)")
_RELATION = re.compile(r"(?P<rel>[a-z][a-z0-9_]{0,63})[ \t]+\[\[(?P<target>[^\[\]\n]+)\]\]")
_WIKILINK = re.compile(r"\[\[(?P<target>[^\[\]\n]+)\]\]")
_TICKS = re.compile("(`+)")
_TAG = re.compile(r"(?<![\w/#&(\[])#(?P<tag>[\w][\w/-]*)")
_STATEMENT = re.compile(rf"[ \t]*[-*+][ \t]+(?:{_OBSERVATION.pattern}|{_RELATION.pattern})")

MENTION = "links_to"
"""The relation of a `[[Target]]` inside of a sentence."""


@dataclass(frozen=True, slots=True)
class Line:
    """What a block says, and what its form says about it."""

    text: str
    """The statement: without bullet and kind."""
    label: str = ""
    """The kind as it is written in brackets; empty when there is none."""
    tags: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    """(relation, target as written), each once."""
    relation: bool = False
    """Whether the line is a relation line as a whole."""


def marker(text: str) -> str:
    """The bullet or number that a list item begins with, with the spaces around it."""
    found = _MARKER.match(text)
    return found[0] if found else ""


def unmarked(text: str) -> str:
    """A list item without its bullet or number; the lines after the first lose the indentation that it gave them."""
    first, newline, rest = text.partition("\n")
    bullet = marker(first)
    if not newline:
        return first[len(bullet) :]
    width = len(bullet)
    lines = [line[width:] if not line[:width].strip() else line.lstrip(" \t") for line in rest.split("\n")]
    return "\n".join((first[len(bullet) :], *lines))


def is_statement(line: str) -> bool:
    """Whether a source line is an observation or a relation, wherever in a list it stands."""
    return _STATEMENT.match(line) is not None


def read_item(text: str) -> Line:
    """A list item."""
    said = unmarked(text)
    if found := _RELATION.match(said):
        links = ((found["rel"], found["target"]), *_mentions(said[found.end() :]))
        return Line(said, "relation", _tags(said[found.end() :]), _each_once(links), relation=True)
    kind = _OBSERVATION.match(said)
    statement = said[kind.end() :] if kind else said
    return Line(statement, kind["kind"].strip() if kind else "", _tags(statement), _each_once(_mentions(statement)))


def read_text(text: str) -> Line:
    """A paragraph, a quote, a table."""
    return Line(text, tags=_tags(text), links=_each_once(_mentions(text)))


def tag_list(value: object) -> tuple[str, ...]:
    """The tags of a property: a list, or words with commas or spaces between them; with or without `#` (B140)."""
    given = value if isinstance(value, list) else re.split(r"[,\s]+", value) if isinstance(value, str) else []
    return _limited(str(tag).strip().lstrip("#").strip() for tag in given if not isinstance(tag, list | dict))


def target_name(target: str) -> str:
    """What a wiki link leads to: without the words that are shown for it and without a heading; a block stays.

    `backend/store#blk_8bcbdac3|the store` -> `backend/store#blk_8bcbdac3`, `Store#Rules` -> `Store`.
    """
    name = target.partition("|")[0].strip()
    for scheme in ("dolmen://", "kmem://", "sp://"):
        name = name.removeprefix(scheme)
    note, _, part = name.partition("#")
    note = note.strip().removesuffix(".md").strip("/")
    return f"{note}#{part}" if part.startswith("blk_") else note


def _mentions(text: str) -> tuple[tuple[str, str], ...]:
    if "[[" not in text:
        return ()
    return tuple((MENTION, found["target"]) for found in _WIKILINK.finditer(_without_code(text)))


def _without_code(text: str) -> str:
    """The text without its code spans: a run of backticks goes to the next one of the same length."""
    if "`" not in text:
        return text
    parts = _TICKS.split(text)
    runs: dict[int, list[int]] = {}
    for at in range(len(parts) - 2, 0, -2):
        runs.setdefault(len(parts[at]), []).append(at)  # the nearest one comes last
    kept: list[str] = []
    at = 0
    while at < len(parts):
        if at % 2:
            same = runs[len(parts[at])]
            while same and same[-1] <= at:
                same.pop()
            if same:
                at = same[-1] + 1
                continue
        kept.append(parts[at])
        at += 1
    return " ".join(kept)


def _each_once(links: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    named = [(rel, name) for rel, target in links if (name := target_name(target))]
    return tuple(dict.fromkeys(named))


def _tags(text: str) -> tuple[str, ...]:
    if "#" not in text:
        return ()
    return _limited(found["tag"] for found in _TAG.finditer(_without_code(text)))


def _limited(names: Iterable[str]) -> tuple[str, ...]:
    kept = [name for name in dict.fromkeys(names) if name and len(name) <= TAG_LIMIT]
    return tuple(name for name in kept if not name.isdecimal())[:TAGS_LIMIT]
