"""Addresses of notes: permalinks from titles in any script, and the refs that name a note or one of its blocks."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass

from dolmen.domain.errors import DolmenError

SCHEME = "dolmen://"
_MEMORY = "memory/"
_SCHEMES = (SCHEME, "kmem://", "sp://")
PERMALINK_LIMIT = 300
_SEGMENT_BYTES = 180
"""Bytes of one part of a derived address: with `.md` and a number it stays a file name on every system."""
_TITLE_LENGTH = 80
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f#?|\[\]\\<>:\"*^]")
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Address:
    """What a ref names: a note, or one block of it."""

    permalink: str
    block: str | None = None

    def __str__(self) -> str:
        return address(self.permalink, self.block)


def address(permalink: str, block: str | None = None) -> str:
    """`dolmen://<permalink>`, or `dolmen://<permalink>#blk_<id>`."""
    return f"{SCHEME}{permalink}#{block}" if block else SCHEME + permalink


def memory_id(ref: str) -> str:
    """The id of a memory that a ref is, plain or as `dolmen://memory/<id>`; empty for everything else. A folder may be
    called `memory` too: only an id behind it makes the address of a memory."""
    name = ref.strip().lower()
    for prefix in (SCHEME + _MEMORY, _MEMORY):
        name = name.removeprefix(prefix)
    return name if _ID.fullmatch(name) else ""


def parse_ref(ref: str) -> Address | None:
    """The address in a ref with or without its scheme; None for the id of a memory (C-233).

    Whatever stands behind `#` is the block, also where no block can be called that: a mistyped part never means the
    whole.
    """
    name = unicodedata.normalize("NFC", ref.strip())
    if memory_id(name):
        return None
    for scheme in _SCHEMES:
        name = name.removeprefix(scheme)
    permalink, _, block = name.partition("#")
    permalink = permalink.removesuffix(".md").strip("/")
    if not permalink:
        return None
    return Address(permalink, block or None)


def key(name: str) -> str:
    """What two names have alike when they count as one address: NFC, case and runs of spaces aside.

    Nothing is folded that makes two files on any file system: width stays.
    """
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
    return " ".join(folded.split())


def slug(text: str) -> str:
    """A part of an address from words in any script: letters, marks and digits stay, all else becomes one `-` (B044).

    Words without any letter or digit, such as an emoji alone, get `note-` and a hash, so that they stay apart.
    """
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())
    kept = [c if unicodedata.category(c)[0] in "LMN" else "-" for c in folded if c not in "'’\u200b\u200c\u200d\ufe0f"]
    name = re.sub("-+", "-", "".join(kept)).strip("-")
    if not name:
        digits = hashlib.sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()[:8]
        return f"note-{digits}"
    return _cut(name, _SEGMENT_BYTES)


def _cut(name: str, most: int) -> str:
    """At most so many bytes, cut between words when one ends late enough, never inside of a character."""
    if len(name.encode()) <= most:
        return name
    short = name.encode()[:most].decode("utf-8", "ignore")
    whole = short.rpartition("-")[0]
    short = whole if len(whole) > len(short) // 2 else short
    after = name[len(short) : len(short) + 1]
    while short and after and unicodedata.combining(after):  # a mark belongs to the letter before it
        short, after = short[:-1], short[-1]
    return short.strip("-")


def slug_path(path: str) -> str:
    """Each part of a path as a slug."""
    return "/".join(slug(part) for part in path.split("/") if part.strip())


def derived(title: str, folder: str = "", number: int = 1) -> str:
    """The address that a title gets in a folder; a taken one gets `-2`, `-3`, … (C-97)."""
    name = slug(title) if number == 1 else f"{slug(title)}-{number}"
    return f"{folder}/{name}" if folder else name


def checked_permalink(permalink: str) -> str:
    """An address exactly as its writer chose it (C-98).

    Raises:
        DolmenError: `invalid-argument` or `too-large`.
    """
    name = unicodedata.normalize("NFC", permalink.strip())
    for scheme in _SCHEMES:
        name = name.removeprefix(scheme)
    name = name.removesuffix(".md").strip("/")
    parts = name.split("/")
    if not name or any(not part.strip() or part.strip(".") == "" or part != part.strip() for part in parts):
        raise DolmenError("invalid-argument", f"{permalink!r} is no address.", "Use one like `backend/auth-decision`.")
    if _FORBIDDEN.search(name) or parts[0] == "memory":
        raise DolmenError(
            "invalid-argument",
            f"{permalink!r} cannot be an address.",
            'Leave out # ? | [ ] \\ < > : " * ^ and control characters, and do not begin it with `memory/`.',
        )
    if len(name) > PERMALINK_LIMIT:
        raise DolmenError("too-large", f"The permalink has {len(name)} characters.", f"Use at most {PERMALINK_LIMIT}.")
    return name


def folder_of(permalink: str) -> str:
    return permalink.rpartition("/")[0]


def name_of(permalink: str) -> str:
    """The last part."""
    return permalink.rpartition("/")[2]


def title_from(line: str) -> str:
    """A title from the first line of a text, cut on a word boundary (C-97)."""
    words = " ".join(re.sub(r"^[ \t]*(?:#{1,6}[ \t]+|[-*+>][ \t]+|\[[^\]]{2,64}\][ \t]+)*", "", line).split())
    words = re.sub(r"[ \t]+#+$", "", words)
    if len(words) <= _TITLE_LENGTH:
        return words
    return (words[: _TITLE_LENGTH + 1].rpartition(" ")[0] or words[:_TITLE_LENGTH]).rstrip(",;:-")
