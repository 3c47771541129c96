"""What a session was about, out of its own words: requests, final response, compaction summary (C-220).

Extractive: nothing is rephrased, so nothing is invented. Bounded far below the limit of a memory.
"""

from __future__ import annotations

import re
import time

from dolmen.client.hook.log import FENCE, Session, shortened

LIMIT = 8_000
"""Characters of a memory; a summary stays well below."""
FIRST, LAST = 3, 5
"""Requests that are kept: where a session began and where it ended."""
REQUEST, RESPONSE, COMPACTION = 300, 1_500, 1_500
"""Characters of each."""

_NOISE = re.compile(
    r"/\S+|(?:ok|okay|yes|y|no|go|go on|continue|proceed|thanks|thank you|네|응|계속|はい|続けて|好的|继续)[.!]?",
    re.IGNORECASE,
)
"""Prompts that say nothing about the work: a bare command, a nod."""
_TAGS = re.compile(
    r"<(dolmen-memory|system-reminder|command-\w+|local-command-\w+|hook_context|ide_\w+)\b[^>]*>.*?</\1>", re.DOTALL
)
"""What clients put into a prompt and nobody typed, and what this hook itself gave."""

_PASTED = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*(?P=fence)[`~]*[ \t]*$|\Z)|(?:^[ \t]*>[^\n]*(?:\n|\Z))+|"
    r"^[ \t]*<(?P<tag>[A-Za-z][\w.:-]*)(?:\s[^<>\n]*)?>.*?(?:</(?P=tag)>|\Z)",
    re.MULTILINE | re.DOTALL,
)
"""Blocks of what is quoted: fenced, cited, tagged."""


def summarize(session: Session) -> str:
    """The summary; empty when nothing was asked that says anything."""
    requests = _requests(session.prompts)
    if not requests and not session.compaction:
        return ""
    parts = [f"Session of {session.client or 'an agent'}, {time.strftime('%Y-%m-%d', time.gmtime(session.started))}."]
    if requests:
        parts.append("Asked:\n" + "\n".join(f"- {each}" for each in requests))
    if session.answer:
        parts.append("Ended with:\n" + shortened(_tidy(session.answer), RESPONSE))
    if session.compaction:
        parts.append("Summed up before, when it was compacted:\n" + shortened(_plain(session.compaction), COMPACTION))
    return "\n\n".join(parts)[:LIMIT]


def _requests(prompts: list[str]) -> list[str]:
    said = [text for prompt in prompts if (text := _line(prompt)) and not _NOISE.fullmatch(text)]
    distinct = list(dict.fromkeys(said))
    if len(distinct) > FIRST + LAST:
        left_out = len(distinct) - FIRST - LAST
        distinct = [*distinct[:FIRST], f"({left_out} more)", *distinct[-LAST:]]
    return distinct


def _line(prompt: str) -> str:
    """The prompt on one line, where a fence alone still tells what was pasted into it."""
    fenced = _PASTED.sub(_fenced, _TAGS.sub(" ", prompt))
    return " ".join(shortened(" ".join(fenced.split()), REQUEST).split())


def _fenced(block: re.Match[str]) -> str:
    words = re.sub("`{3,}|~{3,}", " ", block[0])
    return f" {FENCE} {words} {FENCE} "


def _plain(compaction: str) -> str:
    """Without the tags that some clients wrap it in."""
    return _tidy(re.sub(r"</?(?:summary|analysis)>", "", compaction))


def _tidy(text: str) -> str:
    """Lines without trailing spaces, at most one empty one in a row."""
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in _TAGS.sub("", text).splitlines())).strip()
