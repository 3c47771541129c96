"""Properties: the keys of a note's front matter, read without being changed, and set one at a time in place."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dolmen.domain.errors import DolmenError
from dolmen.markdown.frontmatter import FrontMatter, front_matter, unclosed
from dolmen.markdown.text import newline_of

if TYPE_CHECKING:
    import yaml

Property = str | bool | int | float | None | Sequence["Property"] | Mapping[str, "Property"]
"""A value as JSON would hold it. Dates and times stay the words that they are written in."""

KEY_LIMIT, VALUE_LIMIT = 64, 10_000
_DEPTH = 20
_PLAIN = re.compile(r"[^\W\d_](?:[\w ./()+-]*[\w./()+-])?")
_OF_YAML_1_1 = frozenset({"yes", "no", "on", "off", "y", "n", "true", "false", "null"})


@dataclass(frozen=True, slots=True)
class Properties:
    """What the front matter says. `error` says why it could not be read; nothing else is in it then."""

    values: Mapping[str, Property] = field(default_factory=dict)
    error: str = ""

    def text(self, key: str) -> str:
        """A value as one line of words; empty when it is missing or no scalar."""
        value = self.values.get(key)
        if isinstance(value, bool) or value is None:
            return "" if value is None else str(value).lower()
        return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""


def read_properties(source: str) -> Properties:
    """The properties of a source; none when it has no front matter."""
    found = front_matter(source)
    if found is None:
        return Properties()
    if found.root is None:
        return Properties(error=found.error)
    return Properties({str(key.value): _value(value) for key, value in found.root.value if _is_scalar(key)})


def set_property(source: str, key: str, value: Property) -> str:
    """The source with one property set, or removed when the value is None; every other byte stays (C-101).

    A source without front matter gets one; when its last property goes, so does the front matter.

    Raises:
        DolmenError: `invalid-argument` when the key or the value cannot be one, or the front matter cannot be read.
    """
    key = _checked_key(key)
    if unclosed(source):
        raise DolmenError(
            "invalid-argument",
            "The front matter is never closed: there is no second line `---`.",
            "Close it with `replace_note`, then try again.",
        )
    found = front_matter(source)
    if found is not None and found.error:
        raise DolmenError("invalid-argument", found.error, "Correct it with `replace_note`, then try again.")
    changed = _removed(source, found, key) if value is None else _set(source, found, key, value)
    _verify(source, changed, key, value)
    return changed


# ------------------------------------------------------------------------------------------------------------- reading
def _value(node: yaml.Node, depth: int = 0) -> Property:
    import yaml

    if depth > _DEPTH:
        return None
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, depth + 1) for item in node.value[:1000]]
    if isinstance(node, yaml.MappingNode):
        pairs = [(key, value) for key, value in node.value[:1000] if _is_scalar(key)]
        return {str(key.value): _value(value, depth + 1) for key, value in pairs}
    return _scalar(str(node.value), node.tag.rpartition(":")[2])


def _scalar(text: str, tag: str) -> Property:
    """As YAML 1.2 reads it: `yes` and `on` are words, and `0123` is not octal."""
    if tag == "null":
        return None
    if tag == "bool" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        if tag == "int" and re.fullmatch(r"[-+]?(0|[1-9][0-9]{0,17})", text):
            return int(text)
        if tag == "float" and math.isfinite(float(text)):
            return float(text)
    except ValueError:
        pass
    return text


def _is_scalar(node: yaml.Node) -> bool:
    import yaml

    return isinstance(node, yaml.ScalarNode)


# ------------------------------------------------------------------------------------------------------------- setting
def _set(source: str, found: FrontMatter | None, key: str, value: Property) -> str:
    newline = newline_of(source)
    line = f"{_word(key)}: "
    if found is None:
        mark = "\ufeff" if source.startswith("\ufeff") else ""
        head = f"---{newline}{line.rstrip() + _written(value, newline)}{newline}---{newline}"
        return mark + head + source.removeprefix("\ufeff")
    place = _place(source, found, key)
    if place is None:
        if found.root is not None and found.root.flow_style:
            raise DolmenError(
                "invalid-argument", "The front matter is one `{…}`.", "Write it as lines `key: value` first."
            )
        end = found.end
        before = "" if end == found.start or source[end - 1] in "\r\n" else newline
        return source[:end] + before + line.rstrip() + _written(value, newline) + newline + source[end:]
    start, end = place
    # After other white space than the colon's own, a list of lines cannot begin.
    flow = source[start - 1] != ":" or bool(found.root and found.root.flow_style)
    written = _written(value, newline, flow=flow)
    return source[:start] + (written if source[start - 1] == ":" else written.lstrip(" ")) + source[end:]


def _place(source: str, found: FrontMatter, key: str) -> tuple[int, int] | None:
    """Where the value of a key stands, without the white space and the comments after it."""
    import yaml

    for name, node in found.root.value if found.root else ():
        if not _is_scalar(name) or name.value != key:
            continue
        start, end = found.start + node.start_mark.index, found.start + node.end_mark.index
        block = isinstance(node, yaml.CollectionNode) and not node.flow_style
        if block or (isinstance(node, yaml.ScalarNode) and node.style in ("|", ">")):
            end = _content_end(source, start, end, comments=block)
            if block:  # it begins on a line of its own: the break before it goes with it
                start = found.start + name.end_mark.index
                start += source[start:end].index(":") + 1
        return start, end
    return None


def _content_end(source: str, start: int, end: int, *, comments: bool) -> int:
    """Where the last line with content ends: a block's end is where the next thing begins."""
    while True:
        text = source[start:end].rstrip(" \t\r\n")
        last = max(text.rfind("\n"), text.rfind("\r")) + 1
        if not comments or not text[last:].lstrip().startswith("#") or last == 0:
            return start + len(text)
        end = start + last


def _removed(source: str, found: FrontMatter | None, key: str) -> str:
    place = None if found is None else _place(source, found, key)
    if found is None or place is None:
        return source
    if found.root is not None and found.root.flow_style:
        raise DolmenError("invalid-argument", "The front matter is one `{…}`.", "Write it as lines `key: value` first.")
    name = next(name for name, _ in found.root.value if _is_scalar(name) and name.value == key) if found.root else None
    start = found.start + (name.start_mark.index if name else 0)
    start = max(source.rfind("\n", 0, start), source.rfind("\r", 0, start)) + 1
    end = place[1]
    while end < found.end and source[end] not in "\r\n":
        end += 1
    end += 2 if source[end : end + 2] == "\r\n" else 1
    end = min(end, found.end)
    if not source[found.start : start].strip() and not source[end : found.end].strip():
        return source[: 1 if source.startswith("\ufeff") else 0] + source[found.body :]
    return source[:start] + source[end:]


def _written(value: Property, newline: str, *, flow: bool = False) -> str:
    """A value as it stands after the colon, with the space before it."""
    if isinstance(value, str | bool | int | float):
        return " " + _word(value)
    if isinstance(value, Sequence) and all(isinstance(item, str | bool | int | float) for item in value):
        words = [_word(item) for item in value]  # type: ignore[arg-type]  # just looked at
        if flow or not words:
            return f" [{', '.join(words)}]"
        return "".join(f"{newline}  - {word}" for word in words)
    raise DolmenError("invalid-argument", "The value is no text, number, truth or list of those.", "Use one of them.")


def _word(value: str | bool | int | float) -> str:
    """A scalar that every YAML reads back as it is: in quotes unless it is plain words (B136)."""
    if isinstance(value, str):
        if _PLAIN.fullmatch(value) and value.lower() not in _OF_YAML_1_1 and len(value) < 200:
            return value
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\x7f").replace("\x85", "\\x85").replace(
            "\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\ufeff", "\\ufeff")  # fmt: skip
    return json.dumps(value, allow_nan=False)


def _checked_key(key: str) -> str:
    key = key.strip()
    if not key or len(key) > KEY_LIMIT or re.search(r"[\x00-\x1f\x7f\x85\u2028\u2029\ufeff]", key):
        raise DolmenError(
            "invalid-argument", f"{key!r} cannot be the name of a property.", f"Use 1 to {KEY_LIMIT} characters."
        )
    return key


def _verify(before: str, after: str, key: str, value: Property) -> None:
    """Refuses a change that would touch another property: an anchor that others refer to, a key that is there twice."""
    was, now = dict(read_properties(before).values), read_properties(after)
    wanted = {name: item for name, item in was.items() if name != key}
    if value is not None:
        wanted[key] = list(value) if isinstance(value, tuple) else value
    found = dict(now.values)
    if now.error or found != wanted:
        raise DolmenError(
            "invalid-argument",
            f"The front matter is written so that {key!r} cannot be set alone.",
            "Change it with `replace_note`.",
        )
