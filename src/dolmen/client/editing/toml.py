"""One table of a TOML file, set or removed as lines; the rest of the file stays as it was.

A table that is written in another way than under a header of its own (dotted keys, inline) is refused.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

Path = Sequence[str]
"""The table's name: `("mcp_servers", "dolmen")` for `[mcp_servers.dolmen]`."""

_HEADER = re.compile(r"\s*\[([^\[\]]+|\[[^\[\]]+\])\]\s*(?:#.*)?$")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


class Malformed(ValueError):
    """The text is no TOML, or cannot be changed safely; the message says why."""


def read(text: str) -> dict[str, Any]:
    """Raises: Malformed."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Malformed(str(error)) from error
    except RecursionError:
        raise Malformed("it is nested too deeply") from None


def put(text: str, path: Path, table: Mapping[str, Any]) -> str:
    """The text with this table: in its place when it is there, else at the end. The same text when it says so already.

    Raises:
        Malformed
    """
    before = read(text)
    if _dig(before, path) == dict(table):
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{_name(path)}]", *(f"{_key(key)} = {_value(value)}" for key, value in table.items())]
    said = newline.join(lines) + newline
    place = _place(text, path)
    if place is None:
        gap = newline if text else ""  # an empty line, or the end that the last line does not have
        new = f"{text}{gap}{said}"
    else:
        new = text[: place[0]] + said + text[place[1] :]
    return _checked(new, _with(before, path, dict(table)))


def drop(text: str, path: Path) -> str:
    """The text without this table and those below it.

    Raises:
        Malformed
    """
    before = read(text)
    if _dig(before, path) is None:
        return text
    place = _place(text, path)
    if place is None:
        raise Malformed(f"{_name(path)} is written in a way that cannot be changed safely")
    head, rest = text[: place[0]], text[place[1] :]
    if not rest.strip():  # the line end that was put before it
        head = re.sub(r"\r?\n\Z", "", head)
    elif rest.startswith(("\n", "\r\n")):
        head = re.sub(r"(\n|\A)\r?\n\Z", r"\1", head)
    return _checked(head + rest, _without(before, path))


def _place(text: str, path: Path) -> tuple[int, int] | None:
    """Where the table and those below it stand: from its header to the next one that is another's."""
    start = end = -1
    at = 0
    for line in text.splitlines(keepends=True):
        if (found := _header(line)) is not None:
            ours = found[: len(path)] == list(path)
            if ours and start < 0:
                start = at
            if start >= 0 and not ours:
                break
        at += len(line)
        if start >= 0 and line.strip() and not line.lstrip().startswith("#"):
            end = at
    return (start, end) if start >= 0 else None


def _header(line: str) -> list[str] | None:
    """The name in a header line."""
    found = _HEADER.match(line)
    if found is None:
        return None
    try:
        value: Any = tomllib.loads(f"[{found[1].strip('[]')}]")
    except tomllib.TOMLDecodeError:
        return None
    names = []
    while isinstance(value, dict) and len(value) == 1:
        [(name, value)] = value.items()
        names.append(name)
    return names


def _name(path: Path) -> str:
    return ".".join(map(_key, path))


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _dig(value: Any, path: Path) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _with(value: Mapping[str, Any], path: Path, table: Mapping[str, Any]) -> dict[str, Any]:
    if not path:
        return dict(table)
    inner = value.get(path[0])
    return {**value, path[0]: _with(inner if isinstance(inner, dict) else {}, path[1:], table)}


def _without(value: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Also without the tables that are empty then: a header is what made them."""
    kept = dict(value)
    inner = _without(value[path[0]], path[1:]) if len(path) > 1 else {}
    if inner:
        kept[path[0]] = inner
    else:
        kept.pop(path[0])
    return kept


def _checked(text: str, expected: Mapping[str, Any]) -> str:
    if _pruned(read(text)) != _pruned(expected):
        raise Malformed("it is written in a way that cannot be changed safely")
    return text


def _pruned(value: Mapping[str, Any]) -> dict[str, Any]:
    """Without empty tables, which say nothing to the clients."""
    kept = {key: _pruned(item) if isinstance(item, dict) else item for key, item in value.items()}
    return {key: item for key, item in kept.items() if item != {}}
