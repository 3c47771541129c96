"""How each client's hook last went, for `dolmen doctor`."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass

from dolmen.client.hook import places

LIMIT = 500
"""Characters of a problem that are kept."""


@dataclass(frozen=True, slots=True)
class Status:
    at: int
    """Seconds since the epoch."""
    problem: str
    """Empty when all went well."""


def note(client: str, problems: Sequence[str]) -> None:
    """Keeps how it went; never raises."""
    said = " ".join(problems)
    if said:
        from dolmen.domain.secrets import redact

        said = redact(said)[0][:LIMIT]
    try:
        line = json.dumps({"at": int(time.time()), "problem": said})
        places.write_private(places.folder("status") / f"{client}.json", line.encode())
    except OSError:
        pass


def last(client: str) -> Status | None:
    """How the last start went; None when the hook never ran."""
    try:
        found = json.loads((places.root() / "status" / f"{client}.json").read_bytes())
        return Status(int(found["at"]), str(found["problem"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
