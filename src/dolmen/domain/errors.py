"""The one error of the product. Each protocol maps the codes by one table of its own."""

from __future__ import annotations

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
    "configuration",
    "internal",
]

CODES: frozenset[str] = frozenset(get_args(Code))


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
