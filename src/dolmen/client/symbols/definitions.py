"""Finding definitions in the source of a file."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dolmen.client.symbols.hashing import short_hash
from dolmen.client.symbols.languages import Language, language_of

if TYPE_CHECKING:
    from tree_sitter import Node

LARGEST = 1 << 20
"""Bytes of a file that is parsed; larger ones are made by programs."""
_BINARY = 8_000
"""Bytes at the start of a file in which a NUL says that it holds no text."""
_IDENTIFIER = re.compile(r"[A-Za-z_$\u0080-\U0010ffff][\w$\u0080-\U0010ffff]*")


@dataclass(frozen=True, slots=True)
class Definition:
    """One definition in a file."""

    name: str
    within: tuple[str, ...]
    """What it belongs to, outermost first: classes, modules, the type of a method's receiver."""
    hash: str


@dataclass(frozen=True, slots=True)
class Source:
    """What a file defines."""

    definitions: dict[str, tuple[Definition, ...]]
    whole: bool
    """False when a part of it could not be parsed: what was not found may be there."""

    def of(self, symbol: tuple[str, ...], path: str) -> tuple[Definition, ...]:
        """The definitions of a symbol: those nearest to the top of the file, as an unqualified name means them.

        A qualifier names what the definition belongs to, or the file's own module: `utils.seed` in `lib/utils.py`.
        """
        found = self.definitions.get(symbol[-1], ())
        if len(symbol) > 1:
            inside = [each for each in found if symbol[-2] in each.within]
            modules = path.rpartition(".")[0].split("/")[-2:]
            found = tuple(inside or [each for each in found if not each.within and symbol[-2] in modules])
        nearest = min((len(each.within) for each in found), default=0)
        return tuple(each for each in found if len(each.within) == nearest)


def definitions(path: str, source: bytes) -> Source | None:
    """What a file defines; None when it cannot be told: another language, no grammar, too large, no text.

    It may take minutes and gigabytes for a file that somebody made to that end: `reading.Reader` bounds it.
    """
    language = language_of(path)
    if language is None or len(source) > LARGEST or b"\0" in source[:_BINARY]:
        return None
    parser, query, blocks = _tools(language.name)
    root = parser.parse(source).root_node
    found: dict[str, list[Definition]] = {}
    spans: dict[str, set[tuple[int, int]]] = {}
    indented = sorted((node.start_byte, node.end_byte) for node in _captured(blocks, root)) if blocks else []
    for name, node in _found(language, query, root):
        *outside, own = _names(name)
        if not own or (node.start_byte, node.end_byte) in spans.setdefault(own, set()):
            continue
        spans[own].add((node.start_byte, node.end_byte))
        within = (*_within(language, node), *outside)
        found.setdefault(own, []).append(Definition(own, within, _hash(source, node, indented)))
    return Source({name: tuple(each) for name, each in found.items()}, not root.has_error)


@lru_cache(maxsize=32)
def _tools(name: str) -> tuple[Any, Any, Any]:
    """(parser, query for definitions, query for indented blocks or None)."""
    import tree_sitter

    from dolmen.client.symbols.languages import LANGUAGES

    language = next(each for each in LANGUAGES if each.name == name)
    grammar = tree_sitter.Language(getattr(import_module(language.module), language.entry)())
    blocks = tree_sitter.Query(grammar, "(block) @block") if language.indented else None
    return tree_sitter.Parser(grammar), tree_sitter.Query(grammar, language.query), blocks


def _captured(query: Any, root: Node) -> list[Node]:
    from tree_sitter import QueryCursor

    return [node for nodes in QueryCursor(query).captures(root).values() for node in nodes]


def _found(language: Language, query: Any, root: Node) -> Iterator[tuple[Node, Node]]:
    """(name, definition) of every definition."""
    from tree_sitter import QueryCursor

    for _, captures in QueryCursor(query).matches(root):
        [name] = captures["name"]
        if "at" in captures:
            node = _around(language, name)
        else:
            [node] = captures.get("def") or captures["var"]
            if "var" in captures and _inside(language, node):
                continue
        if node is not None:
            yield name, _wrapped(language, node)


def _around(language: Language, name: Node) -> Node | None:
    """The definition that is wound around a name (C and C++); None for a parameter or a local name."""
    node = name.parent
    calls = False
    while node is not None and node.type.endswith("declarator"):
        calls = calls or node.type == "function_declarator"
        node = node.parent
    if node is None or node.type not in language.outer:
        return None
    local = not calls and node.type == "declaration" and _inside(language, node)
    return None if local else node


def _inside(language: Language, node: Node) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.type in language.functions:
            return True
        parent = parent.parent
    return False


def _wrapped(language: Language, node: Node) -> Node:
    parent = node.parent
    while parent is not None and parent.type in language.wrappers:
        node, parent = parent, parent.parent
    return node


def _within(language: Language, node: Node) -> tuple[str, ...]:
    """The names of what a definition belongs to, outermost first."""
    names = _named(node.child_by_field_name("receiver"))
    parent = node.parent
    while parent is not None:
        if (label := language.containers.get(parent.type)) is not None:
            names += reversed(_named(parent.child_by_field_name(label)))
        parent = parent.parent
    return tuple(reversed(names))


def _named(node: Node | None) -> list[str]:
    """The identifiers in the name of a container: `A::B` gives both, `(c *Box[T])` and `Box<T>` give `Box`."""
    if node is None or node.text is None:
        return []
    text = node.text.decode("utf-8", "replace")
    if node.type == "parameter_list":  # a receiver in Go: an optional variable, then the type
        inner = re.sub(r"\[.*", "", text.strip("()"))
        return _IDENTIFIER.findall(inner)[-1:]
    return _IDENTIFIER.findall(re.sub(r"<.*", "", text))


def _names(node: Node) -> list[str]:
    """A defined name, behind what qualifies it: `shop::Cart::add` gives three; `~Cart` gives `Cart`."""
    text = (node.text or b"").decode("utf-8", "replace")
    return _IDENTIFIER.findall(re.sub(r"<[^>]*>", "", text)) or [""]


def _hash(source: bytes, node: Node, indented: list[tuple[int, int]]) -> str:
    """Of a definition's text.

    Args:
        indented: every indented block of the file, in its order.
    """
    start, end = node.start_byte, node.end_byte
    first, behind = (bisect_left(indented, (at, 0)) for at in (start + 1, end + 1))
    inner = [(a - start, b - start) for a, b in indented[first:behind] if b <= end]
    return short_hash(source[start:end], inner)
