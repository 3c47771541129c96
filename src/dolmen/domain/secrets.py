"""Credentials in text: found by kind, redacted, never repeated in a message (C-300, B181).

Precision first: a rule matches a token format that a provider documents, key material, a password in a URL, or a
random-looking value given to a field with a secret's name. Prose that mentions a password, placeholders and the
examples of documentation pass. Every rule takes linear time on any text.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple


class SecretFinding(NamedTuple):
    """Where a secret stands in a text, never what it is. Offsets are characters."""

    kind: str
    start: int
    end: int


def find(text: str) -> list[SecretFinding]:
    """The secrets in a text, by position, none overlapping; where rules overlap, the more specific one counts."""
    lowered = text.lower()
    found: list[SecretFinding] = []
    hinted = [rule for hint, rule in _HINTS if hint in lowered]
    for rule in dict.fromkeys(hinted):
        for start, end in rule.spans(text):
            _insert(found, SecretFinding(rule.kind, start, end))
    return found


def redact(text: str) -> tuple[str, list[str]]:
    """The text with every secret replaced by `[redacted <kind>]`, and the kinds that it held, each once.

    Nothing is found in the result.
    """
    kinds: dict[str, None] = {}
    while findings := find(text):
        pieces, last = [], 0
        for kind, start, end in findings:
            pieces += [text[last:start], f"[redacted {kind}]"]
            last = end
            kinds[kind] = None
        text = "".join([*pieces, text[last:]])
    return text, list(kinds)


def _insert(found: list[SecretFinding], new: SecretFinding) -> None:
    at = bisect_left(found, new.start, key=lambda finding: finding.start)
    before_is_free = at == 0 or found[at - 1].end <= new.start
    after_is_free = at == len(found) or new.end <= found[at].start
    if before_is_free and after_is_free:
        found.insert(at, new)


@dataclass(frozen=True, slots=True, eq=False)
class _Rule:
    kind: str
    hints: tuple[str, ...]
    """Lowercase texts of which one must occur before the rule is tried."""
    spans: Callable[[str], Iterator[tuple[int, int]]]


# ---------------------------------------------------------------------------------------------------- what is random

_PLACEHOLDER_TEXTS = (
    "changeme change-me change_me example placeholder redacted your xxxx **** dummy sample secret password passwd "
    "token fake test none null undefined todo insert replace process.env os.getenv os.environ import.meta getenv <<"
)
_PLACEHOLDERS = tuple(_PLACEHOLDER_TEXTS.split())
_WORDED = re.compile("|".join(map(re.escape, _PLACEHOLDERS)), re.IGNORECASE)
_REFERENCES = ("$", "%", "{{", "<", "@", "env.")
_LOCATION = frozenset(" /\\:")
_WORD_MARKS = frozenset("._-")
_HEX = re.compile(r"[0-9a-fA-F-]+\Z")
_CHECKED_CHARACTERS = 200


def _is_placeholder(value: str) -> bool:
    """Whether people write it in place of a secret: `$TOKEN`, `<your-key>`, `{{ key }}`, `changeme`, `********`."""
    lowered = value.lower().strip("\"'")
    return lowered.startswith(_REFERENCES) or len(set(lowered)) <= 3 or any(word in lowered for word in _PLACEHOLDERS)


def _looks_random(value: str) -> bool:
    """Whether it looks generated rather than a word, name, path, address, version, date, hash or UUID."""
    value = value[:_CHECKED_CHARACTERS]
    if len(value) < 12 or not _LOCATION.isdisjoint(value) or _HEX.match(value):
        return False
    if 4 * sum(c > "\x7f" for c in value) > len(value):  # prose of a script without spaces
        return False
    upper, lower = any(c.isupper() for c in value), any(c.islower() for c in value)
    digit = any(c.isdigit() for c in value)
    symbol = any(not c.isalnum() and c not in _WORD_MARKS for c in value)
    varied = upper + lower + digit + symbol >= 3 or (digit and symbol)
    return (upper or lower) and varied and _entropy(value) >= 3.5


def _entropy(value: str) -> float:
    """Shannon entropy in bits per character."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())


# -------------------------------------------------------------------------------------------------- checks of matches

_Check = Callable[[re.Match[str]], bool]


def _any(_: re.Match[str]) -> bool:
    return True


def _no_example(match: re.Match[str]) -> bool:
    """Not a documented example such as AKIAIOSFODNN7EXAMPLE, nor a value that was crossed out."""
    lowered = match["value"].lower()
    return not any(word in lowered for word in ("example", "xxxx", "00000000"))


def _openai(match: re.Match[str]) -> bool:
    """`sk-learn-0-24-compatible-name` has the form too, but no capital letters and is shorter."""
    value = match["value"]
    shaped = any(c.isdigit() for c in value) and (any(c.isupper() for c in value) or len(value) >= 40)
    return shaped and _no_example(match)


def _url_password(match: re.Match[str]) -> bool:
    """Not the `app:app` of local development, nor a short plain word."""
    user, password = match["user"], match["value"]
    if password.lower() == user.lower():
        return False
    if _is_placeholder(password):  # `Test` inside of what was made by a generator makes no placeholder of it
        return not password.startswith(_REFERENCES) and _looks_random(_WORDED.sub("", password))
    return len(password) >= 8 or any(c.isdigit() or c in "!#$%&*+=?^~-_" for c in password)


_MEETING = re.compile(r"https://(?:[\w-]{1,60}\.)?zoom\.us/[jw]/\d{9,12}\?\Z")
"""Before `pwd=`: an invitation to a meeting, as notes of teams are full of. It is made to be passed on and opens
nothing else; the same words in another product's link are a secret."""


def _random_value(match: re.Match[str]) -> bool:
    if _MEETING.search(match.string, max(0, match.start() - 110), match.start()):
        return False
    return not _is_placeholder(match["value"]) and _looks_random(match["value"])


def _random_header(match: re.Match[str]) -> bool:
    value = match["value"]
    return not _is_placeholder(value) and _looks_random(value.replace("/", "+"))


# ------------------------------------------------------------------------------------------------------------- rules


def _pattern(kind: str, hints: str, pattern: str, check: _Check = _no_example) -> _Rule:
    compiled = re.compile(pattern)

    def spans(text: str) -> Iterator[tuple[int, int]]:
        return (match.span("value") for match in compiled.finditer(text) if check(match))

    return _Rule(kind, tuple(hints.split()), spans)


_KEY_BEGIN = re.compile(r"-----BEGIN[A-Z0-9 ]{0,40} PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END[A-Z0-9 ]{0,40} PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{16,}")
_KEY_WINDOW = 250
_KEY_LONGEST_GAP = 120
"""Characters between two lines of a key: line ends, also as `\\n` in a JSON string, indents, headers."""


def _private_keys(text: str) -> Iterator[tuple[int, int]]:
    """From the BEGIN line to the END line, or, cut off, to the last line of key material; not the mere header."""
    position = 0
    while begin := _KEY_BEGIN.search(text, position):
        position = last = begin.end()
        while line := _KEY_LINE.search(text, last, last + _KEY_WINDOW):
            if line.start() - last > _KEY_LONGEST_GAP or text.find("-----", last, line.start()) >= 0:
                break
            last = line.end()
        if last > position:
            end = _KEY_END.search(text, last, last + _KEY_WINDOW)
            position = end.end() if end else last
            yield begin.start(), position


_FIELD = (
    r"(?i:pass(?:word|wd|phrase)|passwd|pwd|secret|token|api[ _-]?key|access[ _-]?key|private[ _-]?key|"
    r"(?:secret|auth|account|encryption|signing)[ _-]?key|credentials?|"
    r"비밀번호|비번|암호|토큰|パスワード|密码|密碼|令牌)"
)
_GIVEN = r"[\"'`]?(?:\s{0,8}(?::=|=>|[:=>：])\s{0,8}|\s{1,8}(?:is\s{1,8})?)[\"'`]?"

_RULES = (
    _Rule("private key", ("-----begin",), _private_keys),
    _pattern("AWS access key", "akia asia abia acca", r"\b(?P<value>(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16})\b"),
    _pattern(
        "GitHub token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"\b(?P<value>gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{50,255})",
    ),
    _pattern("GitLab token", "gl", r"\b(?P<value>gl(?:pat|rt|dt|ptt|ft|cbt|soat)-[A-Za-z0-9_-]{20,})"),
    _pattern("Anthropic key", "sk-ant-", r"\b(?P<value>sk-ant-[A-Za-z0-9_-]{20,})"),
    _pattern("OpenAI key", "sk-", r"\b(?P<value>sk-(?!ant-)[A-Za-z0-9_-]{20,})", _openai),
    _pattern("Slack token", "xox xapp-", r"\b(?P<value>(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,})"),
    _pattern("Slack webhook", "hooks.slack.com", r"(?P<value>https://hooks\.slack\.com/services/[A-Za-z0-9_/]{20,})"),
    _pattern("Stripe key", "k_live_ k_test_", r"\b(?P<value>[sr]k_(?:live|test)_[A-Za-z0-9]{20,})"),
    _pattern("Google key", "aiza gocspx-", r"\b(?P<value>AIza[0-9A-Za-z_-]{35}|GOCSPX-[0-9A-Za-z_-]{20,})"),
    _pattern("npm token", "npm_", r"\b(?P<value>npm_[A-Za-z0-9]{36})\b"),
    _pattern("PyPI token", "pypi-age", r"\b(?P<value>pypi-AgE[A-Za-z0-9_-]{30,})"),
    _pattern("Hugging Face token", "hf_", r"\b(?P<value>hf_[A-Za-z0-9]{30,})"),
    _pattern("Groq key", "gsk_", r"\b(?P<value>gsk_[A-Za-z0-9]{40,})"),
    _pattern("SendGrid key", "sg.", r"\b(?P<value>SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{40,})"),
    _pattern("DigitalOcean token", "_v1_", r"\b(?P<value>do[opr]_v1_[a-f0-9]{64})"),
    _pattern("Dolmen key", "dlm_", r"\b(?P<value>dlm_[A-Za-z0-9_-]{32,})", _any),
    _pattern("JSON Web Token", "eyj", r"\b(?P<value>eyJ[\w-]{10,400}+\.eyJ[\w-]{10,8000}+\.[\w-]{10,})", _any),
    _pattern(
        "password in a URL", "://", r"://(?P<user>[^\s:/@]{0,64}):(?P<value>[^\s@/]{3,128})@(?=[^\s/])", _url_password
    ),
    _pattern(
        "Authorization header",
        "authorization",
        r"(?i:\bauthorization[\"']?\s{0,8}[:=]\s{0,8}[\"']?(?:bearer|basic|token)\s{1,8})"
        r"(?P<value>[A-Za-z0-9._~+/=-]{16,})",
        _random_header,
    ),
    _pattern(
        "secret in a named field",
        "pass pwd secret token key credential 비밀번호 비번 암호 토큰 パスワード 密码 密碼 令牌",
        _FIELD + _GIVEN + r"(?P<value>[^\s\"'`<>{}()\[\],;]{8,})",
        _random_value,
    ),
)

_HINTS = tuple((hint, rule) for rule in _RULES for hint in rule.hints)
KINDS = tuple(rule.kind for rule in _RULES)
"""Every kind that `find` can name."""
