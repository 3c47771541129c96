"""How an answer goes on: a cursor that holds its place while memory changes."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from dolmen.domain.errors import DolmenError
from dolmen.services.requests import Recall

DEPTH = 500
"""How deep a cursor reaches."""
_ID = 12
"""Last characters of an id that tell it from the others of an answer."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page begins."""

    shown: int = 0
    """Claims on the pages before."""
    last: str = ""
    """End of the ref of the last of them."""
    at: int | None = None
    """When the first page was answered: what was written later is not in this answer. None on the first page."""
    legs: str = ""
    """Initials of the legs that ranked the first page."""

    def start(self, refs: Sequence[str]) -> int:
        """Where to go on among the answer's claims as they are now: behind the last one that was shown, also when some
        before it were forgotten meanwhile."""
        behind = [n for n, ref in enumerate(refs, 1) if self.last and ref.endswith(self.last)]
        return behind[0] if behind else min(self.shown, len(refs))


def cursor_of(request: Recall, place: Place) -> str:
    fields = (str(place.shown), _signature(request), place.last[-_ID:], f"{place.at or 0:x}", place.legs)
    return base64.urlsafe_b64encode(".".join(fields).encode()).decode().rstrip("=")


def place_of(request: Recall) -> Place:
    """Where the request's page begins.

    Raises:
        DolmenError: `invalid-argument` for a cursor of another query.
    """
    if not request.cursor:
        return Place()
    try:
        padded = request.cursor + "=" * (-len(request.cursor) % 4)
        shown, signature, last, at, legs = base64.urlsafe_b64decode(padded).decode().split(".")
        if signature == _signature(request) and 0 < int(shown) <= DEPTH:
            return Place(int(shown), last, int(at, 16), legs)
    except ValueError:
        pass
    raise DolmenError("invalid-argument", "The cursor does not belong to this query.", "Repeat the query without it.")


def _signature(request: Recall) -> str:
    fields = (
        request.query, request.project, request.kinds, request.labels, request.tags, request.since, request.until,
        request.as_of, request.mode, request.limit, "superseded" in request.include,
    )  # fmt: skip
    return hashlib.sha256(repr(fields).encode("utf-8", "surrogatepass")).hexdigest()[:12]
