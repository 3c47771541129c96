"""What a memory must look like to be stored; decided here once, for every door."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from dolmen.domain.errors import DolmenError
from dolmen.domain.identity import scope_of
from dolmen.domain.memory import (
    CONTENT_LIMIT,
    FOLDER_LIMIT,
    HANDOFF,
    KEY_LIMIT,
    KINDS,
    LINKS_LIMIT,
    REF_LIMIT,
    REFS_LIMIT,
    SOURCE_LIMIT,
    TAG_LIMIT,
    TAGS_LIMIT,
    TITLE_LIMIT,
    TTL_LIMIT,
    Case,
)
from dolmen.domain.text import clean
from dolmen.domain.values import SECOND
from dolmen.services.recording import refuse_secrets, strings
from dolmen.services.requests import NewLink, NewMemory

_REL = re.compile(r"[a-z][a-z0-9_]{0,63}")


def checked(item: NewMemory) -> NewMemory:
    """The item as it will be stored: texts cleaned of what no engine can hold, limits kept, no secrets.

    Raises:
        DolmenError: `invalid-argument`, `too-large` or `secret-detected`.
    """
    text = summary_text(item.content) if item.label == HANDOFF else content_text(item.content)
    title = short_text(item.title, "title", TITLE_LIMIT)
    tags = tag_names(item.tags)
    source = short_text(item.source, "source", SOURCE_LIMIT)
    case = None if item.case is None else case_fields(item.case)
    if item.kind is not None and item.kind not in KINDS:
        raise DolmenError("invalid-argument", f"There is no kind {item.kind!r}.", f"Use one of {', '.join(KINDS)}.")
    if len(item.links) > LINKS_LIMIT:
        raise DolmenError("too-large", f"{len(item.links)} links.", f"A memory takes at most {LINKS_LIMIT} at once.")
    if not isinstance(item.pinned, bool):
        raise DolmenError("invalid-argument", f"pinned: {item.pinned!r} does not fit.", "Use true or false.")
    kept = replace(
        item,
        content=text,
        title=title,
        tags=tags,
        source=source,
        case=case,
        folder=folder_path(item.folder),
        importance=None if item.importance is None else importance(item.importance),
        ttl_seconds=None if item.ttl_seconds is None else ttl(item.ttl_seconds),
        links=tuple(NewLink(relation(link.rel), target(link.to), weight(link.weight)) for link in item.links),
        supersedes=refs(item.supersedes),
        key=None if not item.key else short_text(item.key, "key", KEY_LIMIT),
    )
    # A project is looked at as it is kept: the address of a remote loses its password.
    project = scope_of(item.project) if item.project and item.project.strip() not in ("", "*") else ""
    refuse_secrets(*strings(replace(kept, project=project)))
    return kept


def replacements(*given: object) -> tuple[str, ...]:
    """What to tell the writer when something in these values cannot be stored as it was given."""
    if not any(clean(text)[1] for text in strings(given)):
        return ()
    return ("NUL characters or lone surrogates, which cannot be stored, were replaced by U+FFFD.",)


def refs(given: Sequence[str], name: str = "refs") -> tuple[str, ...]:
    """Refs of other memories: not too many, none too long."""
    if len(given) > REFS_LIMIT:
        raise DolmenError("too-large", f"{len(given)} {name}.", f"Use at most {REFS_LIMIT}; call again for the rest.")
    return tuple(target(ref) for ref in given)


def target(ref: str) -> str:
    """What a link leads to: a ref, or a name of what does not exist yet."""
    return short_text(ref, "ref", REF_LIMIT)


def content_text(content: str) -> str:
    """The statement, whole: stored exactly as given but for NUL and lone surrogates."""
    text, _ = clean(content)
    if not text.strip():
        raise DolmenError("invalid-argument", "The content is empty.", "Write one self-contained statement.")
    if len(text) > CONTENT_LIMIT:
        raise DolmenError(
            "too-large",
            f"The content has {len(text)} characters; a memory holds at most {CONTENT_LIMIT}.",
            "Split it into statements that stand alone and remember each.",
        )
    return text


def summary_text(summary: str) -> str:
    """What a handoff says, as `content_text`."""
    if not summary.strip():
        raise DolmenError("invalid-argument", "The summary is empty.", "Say what was done and how it stands.")
    if len(summary) > CONTENT_LIMIT:
        raise DolmenError(
            "too-large",
            f"The summary has {len(summary)} characters; a handoff holds at most {CONTENT_LIMIT}.",
            "Say where the work stands, and remember what is worth keeping by itself.",
        )
    return content_text(summary)


def short_text(value: str, name: str, limit: int) -> str:
    text = clean(value)[0].strip()
    if len(text) > limit:
        raise DolmenError("too-large", f"The {name} has {len(text)} characters.", f"Use at most {limit}.")
    return text


def tag_names(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Tags without `#`, each once, in their order."""
    names = tuple(dict.fromkeys(t for tag in tags if (t := short_text(tag, "tag", TAG_LIMIT).lstrip("#").strip())))
    if len(names) > TAGS_LIMIT:
        raise DolmenError("too-large", f"{len(names)} tags.", f"Use at most {TAGS_LIMIT}.")
    return names


def folder_path(folder: str) -> str:
    """`a/b/c`: a place inside a scope, never a path of a file system."""
    path = "/".join(part for part in short_text(folder, "folder", FOLDER_LIMIT).replace("\\", "/").split("/") if part)
    if any(part in (".", "..") for part in path.split("/")):
        raise DolmenError("invalid-argument", "A folder has no `.` or `..` in it.", "Name it like `guides/deploy`.")
    return path


def case_fields(case: Case) -> Case:
    return Case(
        id=short_text(case.id, "case id", KEY_LIMIT),
        goal=short_text(case.goal, "goal", 1000),
        outcome=short_text(case.outcome, "outcome", 1000),
        resolution=short_text(case.resolution, "resolution", 64),
        phase=short_text(case.phase, "phase", 64),
    )


def importance(value: float) -> float:
    if not 0 <= value <= 1:
        raise DolmenError("invalid-argument", f"Importance {value} is out of range.", "Use a number from 0 to 1.")
    return float(value)


def weight(value: float) -> float:
    if not 0 <= value <= 1:
        raise DolmenError("invalid-argument", f"Weight {value} is out of range.", "Use a number from 0 to 1.")
    return float(value)


def ttl(seconds: int) -> int:
    if not 1 <= seconds <= TTL_LIMIT // SECOND:  # written so that NaN is refused too
        raise DolmenError(
            "invalid-argument", f"ttl_seconds {seconds} is out of range.", f"Use 1 to {TTL_LIMIT // SECOND} (a year)."
        )
    return int(seconds)


def relation(rel: str) -> str:
    """A relation: one snake_case verb."""
    name = rel.strip()
    if not _REL.fullmatch(name):
        raise DolmenError(
            "invalid-argument",
            f"{rel!r} is no relation.",
            "Use one snake_case verb: depends_on, part_of, contradicts, caused_by, relates_to, …",
        )
    return name


def tidied(name: str) -> str:
    """A name as it is kept: printable, on one line.

    Raises:
        DolmenError: `invalid-argument` for one that is empty or over 100 characters.
    """
    name = " ".join("".join(char for char in name if char.isprintable()).split())
    if not 1 <= len(name) <= 100:
        raise DolmenError("invalid-argument", "The name is empty or too long.", "Give 1 to 100 characters.")
    return name
