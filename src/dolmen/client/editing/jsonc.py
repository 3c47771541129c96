"""JSON, also with comments and trailing commas: one value set or removed, the rest untouched."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

Path = Sequence[str]
"""Keys from the top."""

_BLANK = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_ATOM = re.compile(r"[^\s,:\[\]{}\"/]+")
_INDENT = re.compile(r"^([ \t]+)\S", re.MULTILINE)


class Malformed(ValueError):
    """The text is no JSON; the message says where."""


@dataclass(slots=True)
class _Item:
    """A member of an object, or an element of an array."""

    start: int
    """Of the key, or of the value where there is none."""
    node: _Node
    key: str = ""
    comma: int = -1
    """Position of the comma after it; -1 for none."""


@dataclass(slots=True)
class _Node:
    start: int
    end: int
    value: Any
    items: list[_Item] = field(default_factory=list)
    """Of an object or an array."""
    content_end: int = 0
    """End of the last thing before the closing bracket: a value, a comma or a comment."""


def read(text: str) -> Any:
    """The value. An empty text is an empty object, as it is to the clients.

    Raises:
        Malformed
    """
    return _parse(text).value


def put(text: str, path: Path, value: Any) -> str:
    """The text with the value at the path; objects on the way are made. The same text when it says so already.

    Raises:
        Malformed: it is no JSON, or something on the way is no object.
    """
    if not text.strip("\ufeff \t\r\n"):
        text = "{}\n"
    root = _parse(text)
    before = _dig(root.value, path)
    if before == value and _has(root.value, path):
        return text
    expected = _with(root.value, path, value)
    node, rest = _deepest(root, path)
    if not rest:
        lead = _margin(text, node.start)
        new = text[: node.start] + _dumped(text, value, lead, inline=_inline(text, node)) + text[node.end :]
    else:
        for key in reversed(rest[1:]):
            value = {key: value}
        new = _inserted(text, node, value, rest[0])
    return _checked(new, expected)


def drop(text: str, path: Path, keep: Collection[tuple[str, ...]] = ()) -> str:
    """The text without the value at the path, and without the objects that are empty then.

    Args:
        keep: paths of objects that stay all the same.

    Raises:
        Malformed
    """
    if not text.strip("\ufeff \t\r\n"):
        return text
    root = _parse(text)
    if not _has(root.value, path):
        return text
    keys = list(path)
    while len(keys) > 1 and tuple(keys[:-1]) not in keep and len(_dig(root.value, keys[:-1])) == 1:
        keys.pop()
    parent = _deepest(root, keys[:-1])[0]
    return _checked(_removed(text, parent, keys[-1]), _without(root.value, keys))


def append(text: str, path: Path, item: Any) -> str:
    """The text with one more element at the end of the array at the path; the array is made when it is not there.

    Raises:
        Malformed: also when something else than an array stands there.
    """
    if not text.strip("\ufeff \t\r\n"):
        text = "{}\n"
    root = _parse(text)
    if not _has(root.value, path):
        return put(text, path, [item])
    node = _deepest(root, path)[0]
    if not isinstance(node.value, list):
        raise Malformed(f"{'.'.join(path)} is no list")
    return _checked(_inserted(text, node, item), _with(root.value, path, [*node.value, item]))


def prune(text: str, path: Path, unwanted: Callable[[Any], bool], keep: Collection[tuple[str, ...]] = ()) -> str:
    """The text without the elements that are unwanted; without the array and what held it when nothing is left.

    Args:
        keep: paths of arrays and objects that stay all the same.

    Raises:
        Malformed
    """
    root = _parse(text) if text.strip("\ufeff \t\r\n") else _Node(0, 0, {})
    found = _dig(root.value, path)
    if not isinstance(found, list):
        return text
    positions = [n for n, element in enumerate(found) if unwanted(element)]
    if positions and len(positions) == len(found) and tuple(path) not in keep:
        return drop(text, path, keep)
    for position in reversed(positions):
        array = _deepest(_parse(text), path)[0]
        text = _removed(text, array, position)
    kept = [element for n, element in enumerate(found) if n not in positions]
    return _checked(text, _with(root.value, path, kept)) if positions else text


# ------------------------------------------------------------------------------------------------------------- reading
def _parse(text: str) -> _Node:
    if not text.strip("\ufeff \t\r\n"):
        return _Node(0, len(text), {})
    at = _blank(text, 0)
    try:
        node = _value(text, at)
    except RecursionError:
        raise Malformed("it is nested too deeply") from None
    if _blank(text, node.end) != len(text):
        raise _wrong(text, _blank(text, node.end), "something follows the value")
    return node


def _blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int) -> _Node:
    if text[at : at + 1] in ("{", "["):
        return _container(text, at)
    if string := _STRING.match(text, at):
        return _Node(at, string.end(), _atom(text, at, string[0]))
    if atom := _ATOM.match(text, at):
        return _Node(at, atom.end(), _atom(text, at, atom[0]))
    raise _wrong(text, at, "a value is missing")


def _atom(text: str, at: int, token: str) -> Any:
    try:
        return json.loads(token)
    except ValueError:
        raise _wrong(text, at, f"{token[:20]} is no value") from None


def _container(text: str, start: int) -> _Node:
    is_object = text[start] == "{"
    close = "}" if is_object else "]"
    items: list[_Item] = []
    at = content = start + 1
    while True:
        at = _blank(text, at)
        if text[at : at + 1] == close:
            break
        if items and items[-1].comma < 0:
            raise _wrong(text, at, "a comma is missing")
        item = _member(text, at) if is_object else _Item(at, _value(text, at))
        items.append(item)
        content = item.node.end
        at = _blank(text, content)
        if text[at : at + 1] == ",":
            item.comma, content = at, at + 1
            at += 1
    value: Any = {item.key: item.node.value for item in items} if is_object else [item.node.value for item in items]
    return _Node(start, at + 1, value, items, max(content, start + 1 + len(text[start + 1 : at].rstrip())))


def _member(text: str, at: int) -> _Item:
    key = _STRING.match(text, at)
    if key is None:
        raise _wrong(text, at, "a key in quotes is missing")
    colon = _blank(text, key.end())
    if text[colon : colon + 1] != ":":
        raise _wrong(text, colon, "a colon is missing")
    return _Item(at, _value(text, _blank(text, colon + 1)), str(_atom(text, at, key[0])))


def _wrong(text: str, at: int, what: str) -> Malformed:
    line = text.count("\n", 0, at) + 1
    return Malformed(f"line {line}, column {at - text.rfind(chr(10), 0, at)}: {what}")


# ------------------------------------------------------------------------------------------------------------- editing
def _inserted(text: str, node: _Node, value: Any, key: str | None = None) -> str:
    """A new last item of a container."""
    newline, step = _style(text)
    inline = _inline(text, node) and bool(node.items)
    lead = _margin(text, node.items[-1].start if node.items else node.start)
    if not node.items:
        lead += step
    said = _dumped(text, value, lead, inline=inline)
    said = said if key is None else f"{json.dumps(key, ensure_ascii=False)}: {said}"
    if not node.items and node.content_end == node.start + 1:
        return (
            text[: node.start + 1] + newline + lead + said + newline + _margin(text, node.start) + text[node.end - 1 :]
        )
    last = node.items[-1] if node.items else None
    gap = " " if inline else newline + lead
    trailing = "," if last and last.comma >= 0 else ""
    comma = last.node.end if last and last.comma < 0 else -1
    head = text[:comma] + "," + text[comma : node.content_end] if comma >= 0 else text[: node.content_end]
    return head + gap + said + trailing + text[node.content_end :]


def _removed(text: str, node: _Node, which: str | int) -> str:
    """Without one item, its comma and, where it stood alone on its lines, these."""
    position = which if isinstance(which, int) else max(n for n, item in enumerate(node.items) if item.key == which)
    item = node.items[position]
    if len(node.items) == 1 and not _comments(text, node):
        return text[: node.start + 1] + text[node.end - 1 :]
    start, end = item.start, item.comma + 1 if item.comma >= 0 else item.node.end
    line = text.rfind("\n", 0, start) + 1
    after = re.compile(r"[ \t]*\r?\n").match(text, end)
    if not text[line:start].strip() and after:
        start, end = line, after.end()
    elif position:
        start = node.items[position - 1].comma + 1 if item.comma >= 0 else start
    before = node.items[position - 1] if position else None
    if before and item.comma < 0:
        # The last item without a trailing comma: the one before it becomes the last.
        kept = text[before.comma + 1 : start]
        return text[: before.comma] + (kept if kept.strip() or "\n" in kept else "") + text[end:]
    return text[:start] + text[end:].lstrip(" ") if not position and _inline(text, node) else text[:start] + text[end:]


def _comments(text: str, node: _Node) -> bool:
    """Whether more than the one item stands in the container."""
    item = node.items[0]
    around = text[node.start + 1 : item.start] + text[item.node.end : node.end - 1]
    return bool(around.replace(",", "").strip())


def _inline(text: str, node: _Node) -> bool:
    return "\n" not in text[node.start : node.end]


def _style(text: str) -> tuple[str, str]:
    """(line break, one step of indentation) of the file."""
    found = _INDENT.search(text)
    return ("\r\n" if "\r\n" in text else "\n"), (found[1] if found else "  ")


def _margin(text: str, at: int) -> str:
    """The indentation of the line on which something begins."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _dumped(text: str, value: Any, lead: str, *, inline: bool) -> str:
    if inline:
        return json.dumps(value, ensure_ascii=False)
    newline, step = _style(text)
    return json.dumps(value, ensure_ascii=False, indent=step).replace("\n", newline + lead)


# ---------------------------------------------------------------------------------------------------- what it must say
def _deepest(root: _Node, path: Path) -> tuple[_Node, list[str]]:
    """The last node on the way that is there, and the keys that are left."""
    node = root
    for n, key in enumerate(path):
        if not isinstance(node.value, dict):
            raise Malformed(f"{'.'.join(path[:n]) or 'the top'} is no object")
        found = [item.node for item in node.items if item.key == key]
        if not found:
            return node, list(path[n:])
        node = found[-1]
    return node, []


def _dig(value: Any, path: Path) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _has(value: Any, path: Path) -> bool:
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    return True


def _with(value: Any, path: Path, new: Any) -> Any:
    if not path:
        return new
    inner = value if isinstance(value, dict) else {}
    return {**inner, path[0]: _with(inner.get(path[0]), path[1:], new)}


def _without(value: Any, path: Path) -> Any:
    if len(path) == 1:
        return {key: item for key, item in value.items() if key != path[0]}
    return {**value, path[0]: _without(value[path[0]], path[1:])}


def _checked(text: str, expected: Any) -> str:
    if read(text) != expected:
        raise Malformed("it is written in a way that cannot be changed safely")
    return text
