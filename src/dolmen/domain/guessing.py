"""Is a password one that everybody would try first?

A list of leaked passwords holds millions, and almost all of those that are long enough are one of a few words, runs of
the keyboard and years, one after the other. So these parts are taken out, and what is left has to be worth a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

REST = 4
"""So many characters beside the parts that everybody knows are worth a guess."""
PARTS = 3
"""More parts than that, each another one, are a sentence."""
WORDS = frozenset(
    {
        "password", "passwort", "passwd", "passw0rd", "pass", "word", "letmein", "welcome", "admin",
        "administrator", "root", "user", "guest", "test", "login", "access", "secret", "changeme", "default",
        "iloveyou", "love", "hello", "monkey", "dragon", "football", "baseball", "sunshine", "princess",
        "master", "shadow", "superman", "batman", "michael", "trustno", "whatever", "starwars", "qazwsx",
        "1q2w3e4r", "q1w2e3r4", "1qaz2wsx", "zaq12wsx", "computer", "internet", "freedom", "server", "memory",
        "dolmen", "claude", "chatgpt", "비밀번호", "암호", "사랑해", "안녕하세요", "qlalfqjsgh",
        "dkssudgktpdy", "tkfkdgo",
    }
)  # fmt: skip
"""The words of the common passwords; the last three are Korean ones on a keyboard that was left in English."""
_RUNS = ("abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertz", "azerty")
_PLAIN = str.maketrans("@$!|", "asil")
_LETTERS = str.maketrans("013457", "oleast")
"""What is written for letters."""
_YEAR = re.compile(r"(?:19|20)\d\d|\d{1,4}$")
"""And the digits that are put behind a word because digits are asked for."""
_ALIKE = re.compile(r"(.)\1\1+")
_BETWEEN = re.compile(r"[\W_]+")


def is_expected(password: str, own: Iterable[str] = ()) -> bool:
    """Whether a password holds next to nothing but what everybody tries; `own` are the person's login and name."""
    folded = password.casefold()
    known = WORDS | {part for each in own for part in _BETWEEN.split(each.casefold()) if len(part) > 2}
    return any(_is_poor(each, known) for each in {folded, folded.translate(_PLAIN), _as_letters(folded)})


def _as_letters(text: str) -> str:
    return text.translate(_PLAIN).translate(_LETTERS)


def _is_poor(text: str, known: Iterable[str]) -> bool:
    parts: set[str] = set()

    def out(found: re.Match[str]) -> str:
        parts.add(found[0] if len(set(found[0])) > 1 else "")
        return " "

    words = "|".join(re.escape(word) for word in sorted(known, key=lambda word: (-len(word), word)))
    for pattern in (words, _YEAR, _ALIKE, _runs()):
        text = re.sub(pattern, out, text)
    return len(_BETWEEN.sub("", text)) < REST and len(parts) <= PARTS


def _runs() -> str:
    """Three neighbours and more of the alphabet, the digits or the keyboard, in either direction; the longest first."""
    return "|".join(sorted(set(_stretches()), key=lambda run: (-len(run), run)))


def _stretches() -> Iterator[str]:
    for row in _RUNS:
        for line in (row, row[::-1]):
            for start in range(len(line) - 2):
                for end in range(start + 3, len(line) + 1):
                    yield line[start:end]
