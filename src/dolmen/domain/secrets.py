"""Credentials in text: found by kind, redacted, never repeated in a message (C-300)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple


class SecretFinding(NamedTuple):
    """Where a secret stands, never what it is."""

    kind: str
    start: int
    end: int


def _any(_: re.Match[str]) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: str
    hints: tuple[str, ...]
    """Texts of which one must occur, in lower case, before the pattern is tried."""
    pattern: re.Pattern[str]
    check: Callable[[re.Match[str]], bool] = _any


_PLACEHOLDERS = ("changeme", "change-me", "change_me", "example", "placeholder", "redacted", "your", "xxxx", "****",
                 "dummy", "sample", "secret", "password", "token", "fake", "test", "none", "null", "undefined", "todo",
                 "insert", "replace", "process.env", "os.getenv", "os.environ")


def _is_placeholder(value: str) -> bool:
    lowered = value.lower().strip("\"'")
    return (
        lowered.startswith(("$", "%", "{{", "<"))
        or len(set(lowered)) <= 2
        or any(word in lowered for word in _PLACEHOLDERS)
    )


def _entropy(value: str) -> float:
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())


def _looks_random(value: str) -> bool:
    if len(value) < 12 or any(c in " /\\:" for c in value) or re.fullmatch("[0-9a-fA-F]+", value):
        return False
    upper, lower = any(c.isupper() for c in value), any(c.islower() for c in value)
    digit, symbol = any(c.isdigit() for c in value), any(not c.isalnum() and c not in "._-" for c in value)
    if not (upper or lower) or upper + lower + digit + symbol < 3 and not (digit and symbol):
        return False
    return _entropy(value) >= 3.5


def _random_value(match: re.Match[str]) -> bool:
    value = match["value"]
    return not _is_placeholder(value) and _looks_random(value)


def _not_example(match: re.Match[str]) -> bool:
    return "EXAMPLE" not in match["value"].upper()


def _url_password(match: re.Match[str]) -> bool:
    user, password = match["user"], match["value"]
    if _is_placeholder(password) or password.lower() == user.lower():
        return False
    return len(password) >= 8 or any(c.isdigit() or c in "!#$%&*+=?^~-_" for c in password)


def _rule(kind: str, hints: str, pattern: str, check: Callable[[re.Match[str]], bool] = _not_example) -> _Rule:
    return _Rule(kind, tuple(hints.split()), re.compile(pattern), check)


_RULES = (
    _rule("private key", "-----begin", r"(?P<value>-----BEGIN[A-Z0-9 ]{0,40} PRIVATE KEY(?: BLOCK)?-----"
          r"(?:[^-]|-(?!----END))*(?:-----END[A-Z0-9 ]{0,40} PRIVATE KEY(?: BLOCK)?-----)?)", _any),
    _rule("AWS access key", "akia asia abia acca", r"\b(?P<value>(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16})\b"),
    _rule("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
          r"\b(?P<value>gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{50,255})"),
    _rule("GitLab token", "glpat-", r"\b(?P<value>glpat-[A-Za-z0-9_-]{20,})"),
    _rule("Anthropic key", "sk-ant-", r"\b(?P<value>sk-ant-[A-Za-z0-9_-]{20,})"),
    _rule("OpenAI key", "sk-", r"\b(?P<value>sk-(?!ant-)(?:proj-|svcacct-|admin-)?(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{20,})"),
    _rule("Slack token", "xox", r"\b(?P<value>xox[abposr]-[A-Za-z0-9-]{10,})"),
    _rule("Slack webhook", "hooks.slack.com", r"(?P<value>https://hooks\.slack\.com/services/[A-Za-z0-9_/]{20,})"),
    _rule("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_", r"\b(?P<value>[sr]k_(?:live|test)_[A-Za-z0-9]{20,})"),
    _rule("Google key", "aiza", r"\b(?P<value>AIza[0-9A-Za-z_-]{35})"),
    _rule("npm token", "npm_", r"\b(?P<value>npm_[A-Za-z0-9]{36})\b"),
    _rule("Hugging Face token", "hf_", r"\b(?P<value>hf_[A-Za-z0-9]{30,})"),
    _rule("Dolmen key", "dlm_", r"\b(?P<value>dlm_[A-Za-z0-9_-]{32,})", _any),
    _rule("JSON Web Token", "eyj",
          r"\b(?P<value>eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})", _any),
    _rule("password in a URL", "://", r"://(?P<user>[^\s:/@]{1,64}):(?P<value>[^\s@/]{3,128})@(?=[^\s/])", _url_password),
    _rule("Authorization header", "authorization", r"(?i:\bauthorization[\"']?\s{0,8}[:=]\s{0,8}[\"']?"
          r"(?:bearer|basic|token)\s{1,8})(?P<value>[A-Za-z0-9._~+/=-]{16,})",
          lambda m: not _is_placeholder(m["value"]) and _looks_random(m["value"].replace("/", "+"))),
    _rule("secret in a named field", "password passwd pwd secret token key credential",
          r"(?i:password|passwd|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|credentials?)"
          r"[\"']?(?:\s{0,8}[:=]\s{0,8}|\s{1,8})[\"']?(?P<value>[^\s\"'<>{}()\[\],;]{8,200})", _random_value),
)


def find(text: str) -> list[SecretFinding]:
    """Secrets in the text, by position, none overlapping; offsets are characters."""
    lowered = text.lower()
    found: list[SecretFinding] = []
    for rule in _RULES:
        if not any(hint in lowered for hint in rule.hints):
            continue
        for match in rule.pattern.finditer(text):
            start, end = match.span("value")
            if rule.check(match) and not any(start < f.end and f.start < end for f in found):
                found.append(SecretFinding(rule.kind, start, end))
    return sorted(found, key=lambda f: f.start)


def redact(text: str) -> tuple[str, list[str]]:
    """The text with every secret replaced by `[redacted <kind>]`, and the kinds that it held, each once."""
    findings = find(text)
    if not findings:
        return text, []
    out, last = [], 0
    for kind, start, end in findings:
        out += [text[last:start], f"[redacted {kind}]"]
        last = end
    return "".join([*out, text[last:]]), list(dict.fromkeys(f.kind for f in findings))
