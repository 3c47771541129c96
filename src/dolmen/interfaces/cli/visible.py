"""Text of others on a terminal: what would move the cursor, colour, hide or turn around is shown instead of obeyed."""

from __future__ import annotations

import os
import re

_OURS = f"{int.from_bytes(os.urandom(4), 'big')};"
"""The first parameter of the colours that this program sets, until they are written: no stored text can guess it."""
_OWN_COLOUR = rf"\x1b\[{_OURS}[0-9;]*m"
_ANY_COLOUR = re.compile(rf"\x1b\[(?!{_OURS})")
# C0 without tab and newline, DEL, C1, the bidirectional controls, with which a text looks other than it reads, and lone
# surrogates, which stand for bytes of a file's name that are no text and cannot be written as such.
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_UNSAFE = re.compile(f"({_OWN_COLOUR})|[{_CONTROLS}]")
_BREAKS = re.compile("[\t\n]")
_UNSAFE_IN_JSON = re.compile(f"[{_CONTROLS}]")


def visible(text: str) -> str:
    """The text with `␛` for an escape, `‹U+202E›` for what has no picture; colours of `marked` stay."""
    return _UNSAFE.sub(_shown, text)


def one_line(name: str) -> str:
    """A name that stands in a line of its own: `␊` for a line break, which a file's name may hold."""
    return _BREAKS.sub(lambda found: chr(0x2400 + ord(found[0])), name)


def marked(styled: str) -> str:
    """A visible text that was coloured just now: its colours are this program's own."""
    return _ANY_COLOUR.sub(f"\x1b[{_OURS}", styled)


def for_terminal(text: str) -> str:
    """What is written: visible, with this program's colours as the terminal knows them."""
    return visible(text).replace(f"\x1b[{_OURS}", "\x1b[")


def for_json(text: str) -> str:
    r"""JSON that says the same, with `\u202e` for what a terminal would obey; it holds these in strings only."""
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _shown(found: re.Match[str]) -> str:
    if found[1]:
        return found[1]
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"‹U+{code:04X}›"
