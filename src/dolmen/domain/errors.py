"""The one error of the product. Each protocol maps the codes by one table of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

Code = Literal[
    # the caller's input
    "invalid-argument",
    "invalid-project",
    "invalid-time",
    "too-large",
    "secret-detected",
    # what the caller named
    "not-found",
    "conflict",
    "gone",
    # who the caller is
    "unauthorized",
    "forbidden",
    "read-only",
    "rate-limited",
    # the surroundings
    "unavailable",
    "model-unavailable",
    "store-busy",
    "store-too-new",
    "store-unsafe",
    "store-foreign",
    "store-damaged",
    "configuration",
    "internal",
]

CODES: frozenset[str] = frozenset(get_args(Code))

MEANINGS: Mapping[Code, str] = {
    "invalid-argument": "An argument is missing, unknown or out of range.",
    "invalid-project": "A project is neither a git remote URL nor a name; a local path is none.",
    "invalid-time": "A time or a zone is not understood.",
    "too-large": "A text, a batch or a request is larger than its limit; nothing of it was stored.",
    "secret-detected": "The text holds a credential; it was not stored.",
    "not-found": "It is not here: it never was, was purged, or belongs to another vault.",
    "conflict": "Somebody else changed it meanwhile, or it is decided already.",
    "gone": "It was forgotten or replaced; `edit` with op `restore` brings it back.",
    "unauthorized": "The key is missing, unknown, revoked or expired.",
    "forbidden": "The connection may not do this.",
    "read-only": "The connection may only read.",
    "rate-limited": "Too many requests; the answer says when to try again.",
    "unavailable": "The store cannot be reached now.",
    "model-unavailable": "The embedding model does not answer; search goes on by words.",
    "store-busy": "Other writers did not finish in time; try again.",
    "store-too-new": "The store was made by another version of this program.",
    "store-unsafe": "The store is where it would be damaged, such as a network file system.",
    "store-foreign": "What is there is not a Dolmen store; nothing in it was touched.",
    "store-damaged": "The store cannot be read any more; a backup or an export brings it back.",
    "configuration": "A setting does not fit.",
    "internal": "A mistake in Dolmen; the log has the details under the id that the message names.",
}
"""What each code says, for the documents."""


class DolmenError(Exception):
    """A refusal that tells the caller what to do next.

    Attributes:
        code: one of `CODES`; stable, for programs.
        message: what is wrong, in one sentence; never holds a secret or an internal detail.
        fix: what to do about it; may be empty only for `internal`.
        data: extra facts for programs, such as `{"current": "…"}` after a conflict.
    """

    def __init__(self, code: Code, message: str, fix: str = "", **data: object) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = message
        self.fix = fix
        self.data = data

    def as_dict(self) -> dict[str, object]:
        """The one shape that every interface shows: `{code, message, fix, …data}`."""
        return {"code": self.code, "message": self.message, "fix": self.fix, **self.data}


def not_found(what: str, ref: str) -> DolmenError:
    """The same answer for a thing that never was, one that was purged, and one of another vault."""
    return DolmenError("not-found", f"{what} {ref!r} is not here.", "Check the ref, or recall to find it again.")
