"""How many model tokens a text costs, without a tokenizer."""

from __future__ import annotations

import re

_PIECE = re.compile(
    r"(?P<word> ?[A-Za-z]+)|(?P<digits>\d{1,3})|(?P<hangul>[\uac00-\ud7a3])|(?P<han>[\u4e00-\u9fff])"
    r"|(?P<kana>[\u3040-\u30ff])|(?P<space>\s+)|(?P<ascii>[!-/:-@\[-`{-~]+)|(?P<wide>[^\x00-\u07ff])|(?P<other>.)",
    re.S,
)


def estimate(text: str) -> int:
    """Tokens of the text under cl100k, estimated: at most about 3 % too few, 20 % too many. 0 for an empty text."""
    total = 0.0
    for match in _PIECE.finditer(text):
        length = match.end() - match.start()
        match match.lastgroup:
            case "word":
                total += 1.0 if length <= 7 else 1.0 + (length - 7) / 6
            case "digits":
                total += 1.0
            case "hangul":
                total += 1.25
            case "han":
                total += 1.35
            case "kana":
                total += 1.0
            case "space":
                total += 1.0 if length > 1 or match.group() != " " else 0.2
            case "ascii":
                total += 0.3 + length * 0.5
            case "wide":
                total += 2.5
            case _:
                total += 1.0
    return int(total + 0.999)
