"""Which statements may be taken from a session's summary? What a model proposes is checked here, word by word."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from dolmen.domain.memory import Kind
from dolmen.domain.quality import noise
from dolmen.domain.secrets import find
from dolmen.domain.text import fold

EVIDENCE = "evidence"
"""The attribute that keeps the words of the session which say what a memory says."""
Category = Literal["decision", "convention", "code", "preference", "fact", "task_or_status", "pasted"]
"""What a statement is. The last two are there so that a model has a place for what is not to be kept."""
Basis = Literal["stated", "inferred"]
CATEGORIES: tuple[Category, ...] = get_args(Category)
BASES: tuple[Basis, ...] = get_args(Basis)

KIND_OF: Mapping[Category, Kind] = {
    "decision": "decision",
    "convention": "convention",
    "code": "code",
    "preference": "preference",
    "fact": "fact",
}
"""The kinds of what is kept (C-273)."""
ANYWHERE: frozenset[Category] = frozenset({"preference", "fact"})
"""All that a session outside a repository yields."""

SHORTEST, LONGEST = 8, 400
"""Characters of a statement."""
EVIDENCE_SHORTEST, EVIDENCE_LONGEST = 8, 400
"""Characters of a quote: fewer occur everywhere."""
_LONG_BLOCK = 40
"""Characters from which a fenced, cited or tagged block counts as somebody else's text: more than a name."""
_LONG_QUOTE = 160
"""The same in quotation marks, in which people also say what they want themselves."""
_CUT = "\n\x00\n"
"""Stands where a block was; no quote reaches across it."""

_FENCED = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(?P<words>.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_FENCED_INLINE = re.compile(r"(`{3,}|~{3,})(?P<words>.*?)(?:\1|\Z)", re.DOTALL)
"""As a fence stands in a summary that puts each request on one line."""
_CITED = re.compile(r"(?P<words>(?:^[ \t]*>[^\n]*(?:\n|\Z))+)", re.MULTILINE)
_TAGGED = re.compile(r"^[ \t]*<([A-Za-z][\w.:-]*)(?:\s[^<>\n]*)?>(?P<words>.*?)(?:</\1>|\Z)", re.MULTILINE | re.DOTALL)
_MARKS = re.compile(
    r'"[^"]*"|“[^”]*(?:”|\Z)|„[^“”]*(?:[“”]|\Z)|«[^»]*(?:»|\Z)|「[^」]*(?:」|\Z)|『[^』]*(?:』|\Z)|‘[^’]*(?:’|\Z)'
)
"""One that nobody closes goes on to the end, like a fence; looking for its end from each of many would take the square
of the time."""
_QUOTES = "\"'`“”„«»「」『』‘’. "
"""What a model may put around a quote."""
_EXACT = re.compile(r"[\w$][\w$./:@#-]*[\w$]|\w")
_TELLING = re.compile(r"\d|[_/@#$]|\w[.:]+\w|[a-z][A-Z]")
"""In a word: it names a thing, and cannot be put in other words."""
_COMMANDS = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|all|any|instructions?|rules?)\b|"
    r"\bsystem prompt\b|\byou (?:are now|must now|will now)\b|\b(?:curl|wget)\b.*\|\s*(?:ba|z)?sh\b|\brm -rf\b|"
    r"<\|?(?:im_start|system|assistant)|이전 (?:지시|명령)|(?:지시|명령|규칙)[을를] 무시|"
    r"指示を無視|忽略.{0,12}(?:指令|指示)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement as a model proposes it."""

    text: str
    category: Category
    basis: Basis
    evidence: str
    """What stands in the session, word for word, and says so."""


class Session:
    """A session's summary, read once for all candidates from it."""

    def __init__(self, text: str, *, in_repository: bool) -> None:
        self._in_repository = in_repository
        self._all = _flat(text)
        self._own = _flat(own_words(text))
        self._words = frozenset(_EXACT.findall(self._all))

    def fault(self, candidate: Candidate) -> str | None:
        """Why a candidate is not kept (C-273, C-274), None when it may be: one of `category`, `scope`, `length`,
        `secret`, `noise`, `evidence` (it does not occur), `pasted` (it occurs in somebody else's text only),
        `invented` (a name or number of the statement does not occur)."""
        text, evidence = candidate.text.strip(), _flat(candidate.evidence)
        if evidence not in self._all:
            evidence = evidence.strip(_QUOTES)
        if candidate.category not in KIND_OF:
            return "category"
        if not self._in_repository and candidate.category not in ANYWHERE:
            return "scope"
        if not SHORTEST <= len(text) <= LONGEST:
            return "length"
        if find(text) or find(candidate.evidence):
            return "secret"
        if noise(text):
            return "noise"
        if not EVIDENCE_SHORTEST <= len(evidence) <= EVIDENCE_LONGEST or evidence not in self._all:
            return "evidence"
        if evidence not in self._own:
            return "pasted"
        return "invented" if details(text) - self._words else None


def commands(text: str) -> bool:
    """Whether a statement reads like an order to whoever reads it next: never served before a person has agreed."""
    return _COMMANDS.search(text) is not None


def details(text: str) -> frozenset[str]:
    """Names and numbers of a text that cannot be put in other words: `parse_block`, `src/app.py`, `8080`, `v2`."""
    return frozenset(_flat(word) for word in _EXACT.findall(text) if _TELLING.search(word))


def own_words(text: str) -> str:
    """A text without its long fenced, cited, tagged and quoted blocks: what the people in it said themselves."""
    for block in (_FENCED, _FENCED_INLINE, _TAGGED, _CITED):
        text = block.sub(lambda found: found[0] if len(found["words"]) < _LONG_BLOCK else _CUT, text)
    return _MARKS.sub(lambda found: found[0] if len(found[0]) < _LONG_QUOTE else _CUT, text)


def _flat(text: str) -> str:
    return " ".join(fold(text).split())
