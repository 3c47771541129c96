"""The files and symbols that a text mentions (C-223). Rules and limits are Kenfold's.

Files are relative paths with a known extension, or well-known names without one, in any script. Symbols count when they
stand in backticks or are written as calls; where exactly one file is mentioned, also when they look like code, and then
they are symbols of that file.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dolmen.domain.memory import Kind

KINDS: tuple[Kind, ...] = (
    "fact", "decision", "convention", "procedure", "error", "relation", "code", "reference",
)  # fmt: skip
"""Kinds whose code is followed: those that read as Kenfold's `project`, `codebase` and `semantic`. The others tell what
happened, what is liked, or how far work has come."""

PATHS_LIMIT, SYMBOLS_LIMIT = 6, 6
PATH_LIMIT, SYMBOL_LIMIT, SHORTEST_SYMBOL = 300, 100, 3

_EXTENSION_WORDS = """
go py pyi ts tsx mts cts js jsx mjs cjs rs java kt kts swift rb php cs fs c h cc cpp cxx hpp hh m mm scala dart lua
zig ex exs erl ml mli clj cljs r jl pl pm sql sh bash zsh fish ps1 gradle tf hcl nix proto graphql gql vue svelte
astro
"""
_PRODUCT_WORDS = """
next node vue nuxt express three chart d3 moment ember backbone react alpine solid p5 anime day pixi babylon
"""
_LANGUAGE_WORDS = """
true false null nil none None True False undefined this self super main init new string int bool float byte error
any void async await return import export default const var let func function def class struct interface type enum
yield ok err ctx req res
"""
_PROPER_NAMES = """
GitHub GitLab JavaScript TypeScript PostgreSQL MySQL MongoDB GraphQL OpenAI OAuth iPhone iPad macOS iOS YouTube
LinkedIn PayPal WordPress DevOps NoSQL McDonald
"""
_DATA_WORDS = "html css scss sass less yaml yml toml json jsonc xml ini cfg conf lock md mdx"
_EXTENSIONS = frozenset((*_EXTENSION_WORDS.split(), *_DATA_WORDS.split()))
_DATA = frozenset(_DATA_WORDS.split())
_NAMES = frozenset(("Makefile", "Dockerfile", "Justfile", "Gemfile", "Rakefile", "Procfile"))
_PRODUCTS = frozenset((*(f"{name}.js" for name in _PRODUCT_WORDS.split()), "socket.io"))
"""Products whose names look like files."""
_NOT_SYMBOLS = frozenset((*_LANGUAGE_WORDS.split(), *_PROPER_NAMES.split()))
"""Words that are written like identifiers and name nothing in a project."""

# Coarser than `domain.text.scripts`, which takes longer to load than a session's start should wait.
_HANGUL = r"\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
_UNSPACED = r"\u0e01-\u0e4e\u0e80-\u0edf\u1000-\u109f\u1780-\u17dd\u3005-\u3007\u3041-\u30ff\u3400-\u9fff\uf900-\ufad9"
"""Chinese, Japanese, Thai, Lao, Burmese and Khmer, which put no spaces between words."""
_LETTER = r"(?:[^\W\x00-\x7f]|[\u0300-\u036f\u0591-\u05c7\u064b-\u0670\u0900-\u0dff\u0e00-\u109f\u1780-\u17d3])"
"""A letter or digit beyond ASCII, or a mark on one, which `\\w` leaves out."""
_TEXT = rf"(?:[A-Za-z0-9/\\._\-@+:#\[\]]|{_LETTER})+"
_TOKEN = re.compile(rf"(?P<mark>[`'\"])(?P<marked>{_TEXT})(?P=mark)|(?P<bare>{_TEXT})")
_LINE_WORDS = r"(?::[0-9]+(?::[0-9]+)?|#L[0-9]+(?:-L?[0-9]+)?)"
_LINE = re.compile(rf"{_LINE_WORDS}\Z")
_STEP = re.compile(rf"(?:[A-Za-z0-9_.@+\-\[\]]|{_LETTER})+")
_DOMAIN = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+")
_PUNCTUATION = ".,:;!?"
_END = re.compile(
    rf"(?:(?<=[^/\\])\.(?P<extension>[a-z0-9]+)|(?:\A|(?<=[/\\]))(?P<name>[A-Z][a-z]+)){_LINE_WORDS}?(?={_LETTER})"
)
"""The end of a file's name where a word goes on that is none of it: `jwt.go` of `jwt.go에서`."""
_GLUED = re.compile(
    rf"[{_UNSPACED}]+(?=[A-Za-z0-9_@\[]|\.\.?[/\\])"
    rf"|[{_HANGUL}]+(?=[A-Za-z][^/\\]*[/\\]|\.\.?[/\\])"
)
"""Words before a path that no space keeps apart from it: `修改` of `修改src/auth.go`."""
_IN_PROSE = re.compile(f"[{_UNSPACED}]")

_NAME = r"[A-Za-z_$][\w$]*"
_SYMBOL = re.compile(rf"{_NAME}(?:(?:\.|::|#){_NAME}){{0,2}}", re.ASCII)
_QUOTED = re.compile(r"`([^`\n]{1,120})`")
_CALL = re.compile(rf"(?<![\w.$])({_NAME}(?:\.{_NAME}){{0,2}})\(\)", re.ASCII)
_WORD = re.compile(r"[A-Za-z0-9_.$]+")


@dataclass(frozen=True, slots=True)
class Mention:
    """A file (no symbol), a symbol of a file, or a symbol whose file is not said."""

    path: str
    """Relative to the repository, with `/`; empty when no file is known."""
    symbol: str
    """An identifier, qualified or not: `Server.dedupe`, `Model::fit`, `Api#fetch`; empty for the file itself."""


def recorded(kind: Kind, scope: str) -> bool:
    """Whether the code of such a memory is followed: only what tells about a project."""
    return scope.startswith("project:") and kind in KINDS


def mentions(text: str) -> tuple[Mention, ...]:
    """What a text mentions, files first, each once, at most six files and six symbols.

    Every file stands for itself too, so that a memory whose symbols cannot be found still follows its file.
    """
    paths = _paths(text)
    symbols = list(dict.fromkeys(_marked(text, paths)))
    if len(paths) == 1:
        symbols += [name for name in dict.fromkeys(_likely(text, paths)) if name not in symbols]
    place = paths[0] if len(paths) == 1 else ""
    files = [Mention(path, "") for path in paths]
    return (*files, *(Mention(place, symbol) for symbol in symbols[:SYMBOLS_LIMIT]))


def valid_path(path: str) -> bool:
    """Whether a text is a path as `mentions` gives it."""
    return _path(path) == path


def may_define(path: str) -> bool:
    """Whether a file may define symbols; texts and data only mention them."""
    extension = path.rpartition("/")[2].rpartition(".")[2].lower()
    return "." in path and extension in _EXTENSIONS - _DATA


def valid_symbol(symbol: str) -> bool:
    """Whether a text is a symbol as `mentions` gives it."""
    return len(symbol) <= SYMBOL_LIMIT and _SYMBOL.fullmatch(symbol) is not None


def qualified(symbol: str) -> tuple[str, ...]:
    """The parts of a symbol: `a.B::c` is `("a", "B", "c")`."""
    return tuple(re.split(r"::|[.#]", symbol))


# ---------------------------------------------------------------------------------------------------------------- files
def _paths(text: str) -> list[str]:
    found: dict[str, None] = {}
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)  # as file names are kept, also by git of a Mac
    for token in _TOKEN.finditer(text):
        for path in _paths_in(token["marked"] or "", token["bare"] or ""):
            found[path] = None
            if len(found) == PATHS_LIMIT:
                return list(found)
    return list(found)


def _paths_in(marked: str, bare: str) -> Iterator[str]:
    """The paths of a token: what stands in backticks or quotes is taken as it is, else words of a sentence may hang on
    it. Where a script puts no spaces, nobody can tell the sentence from a name that begins in it."""
    if path := _path(marked):
        yield path
        return
    token = marked or bare
    if token.isascii():
        if path := _path(token):
            yield path
        return
    start = 0
    ends = (each for each in _END.finditer(token) if each["extension"] in _EXTENSIONS or each["name"] in _NAMES)
    for end in (*(each.end() for each in ends), len(token)):
        path = _path(_GLUED.sub("", token[start:end], count=1) if _GLUED.match(token, start) else token[start:end])
        if path and not _IN_PROSE.match(path):
            yield path
        start = end


def _path(token: str) -> str:
    """The path in a token; empty when it is none: a URL, an absolute path, a product, a version, a word."""
    if "://" in token:
        return ""
    path = _LINE.sub("", token.rstrip(_PUNCTUATION)).rstrip(_PUNCTUATION)
    path = path.replace("\\", "/").removeprefix("./")  # as it is written on Windows
    if not path or len(path) > PATH_LIMIT or path[0] in "/~#" or ":" in path or "#" in path:
        return ""
    steps = path.split("/")
    if any(step in ("", ".", "..") or not _STEP.fullmatch(step) for step in steps):
        return ""
    if len(steps) > 1 and _DOMAIN.fullmatch(steps[0]):  # github.com/org/repo/file.go: an import path or a URL
        return ""
    return path if _is_file(steps[-1], alone=len(steps) == 1) else ""


def _is_file(name: str, *, alone: bool) -> bool:
    if name in _NAMES:
        return True
    start, _, extension = name.rpartition(".")
    return bool(start) and extension in _EXTENSIONS and not (alone and name.lower() in _PRODUCTS)


# -------------------------------------------------------------------------------------------------------------- symbols
def _marked(text: str, paths: list[str]) -> Iterator[str]:
    """Symbols in backticks, then calls."""
    for found in (*_QUOTED.findall(text), *_CALL.findall(text)):
        name = found.strip().removesuffix("()")
        if _is_symbol(name) and not any(name in path.split("/") for path in paths):
            yield name


def _likely(text: str, paths: list[str]) -> Iterator[str]:
    """Words that look like code without being marked as such."""
    for word in _WORD.findall(text):
        name = word.strip(".")
        in_a_path = any(name in path for path in paths)  # cut out of it, or the file said without its extension
        if _is_symbol(name) and not in_a_path and _looks_like_code(name):
            yield name


def _is_symbol(name: str) -> bool:
    return (
        len(name) >= SHORTEST_SYMBOL
        and valid_symbol(name)
        and name not in _NOT_SYMBOLS
        and not _is_file(name, alone=False)
    )


def _looks_like_code(name: str) -> bool:
    """`RequireAPIKey`, `useFlag`, `seed_everything`, `Server.Dedupe`; not `RATE_LIMIT`, not a plain word."""
    parts = [part for part in re.split(r"[.#]", name) if part]
    if len(parts) == 2 and parts[0][0].isupper():
        return True
    return any(_is_camel(part) or _is_snake(part) for part in parts)


def _is_camel(word: str) -> bool:
    return re.search(r"[a-z][^A-Z]*[A-Z]", word) is not None


def _is_snake(word: str) -> bool:
    inner = word.strip("_")
    return "_" in inner and any(character.islower() for character in inner)
