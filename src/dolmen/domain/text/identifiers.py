"""Identifiers as people write them: the whole in one spelling, and the words inside."""

from __future__ import annotations

import re

from dolmen.domain.text.normal import fold

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+]*://")
_PATH_JOIN = re.compile(r"://|::|->|[/\\:@#]")
_JOIN = re.compile(r"(?:://|::|->|[-./\\:@#_])+")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+[0-9]*|[0-9]+")
_LETTERS_THEN_DIGITS = re.compile(r"[a-z]{3,}(?=\d)")
_VERSION = re.compile(r"v\d+\Z")
_HEX = re.compile(r"(?=\w*\d)(?=\w*[a-f])[0-9a-f]{9,64}\Z")
_MOST_FORMS = 24
_LONGEST_CAMEL = 48
SHORT_HASH = 7


def forms(chunk: str) -> tuple[list[str], list[str]]:
    """The spellings under which a joined chunk is looked for whole, and the words that it is joined from.

    `src/auth/tokenStore.py` is looked for as `src_auth_token_store_py`, `token_store_py` and `token_store`; a scheme
    and the `v` of a version are left out.
    """
    scheme = _SCHEME.match(chunk)
    body = chunk[scheme.end() :] if scheme else chunk
    words = [word for word in _JOIN.split(body) if word]
    pieces = [body]
    for step in _PATH_JOIN.split(body):
        pieces.append(step)
        if "." in step:
            pieces.extend(step.split("."))
    wholes: dict[str, None] = {}
    for piece in dict.fromkeys(pieces):
        if len(wholes) >= _MOST_FORMS:
            break
        named = [part for word in _JOIN.split(piece) if word for part in _spelled(word)]
        if len(named) > 1:
            wholes["_".join(named)] = None
            if _VERSION.match(named[0]):
                wholes["_".join([named[0][1:], *named[1:]])] = None
    return list(wholes), words + [compound for piece in pieces[1:] if (compound := _compound(piece))]


def parts(word: str) -> list[str]:
    """Folded parts of one joined word: `getUserName` -> `get user name`; `utf8` -> `utf8 utf`."""
    found: list[str] = []
    for part in _spelled(word):
        found.append(part)
        if letters := _LETTERS_THEN_DIGITS.match(part):
            found.append(letters.group())
    return found


def short_hash(word: str) -> str | None:
    """The seven characters by which people know a commit, None for anything else."""
    return word[:SHORT_HASH] if _HEX.match(word) else None


def _spelled(word: str) -> list[str]:
    if not word.isascii() or len(word) > _LONGEST_CAMEL:
        return [fold(word)]
    return [part.lower() for part in _CAMEL.findall(word)]


def _compound(piece: str) -> str | None:
    """`e-mail` is also `email`, `back-end` also `backend`."""
    first, hyphen, second = piece.partition("-")
    if hyphen and first.isalpha() and second.isalpha() and piece.islower():
        return first + second
    return None
