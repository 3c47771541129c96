"""Who knows what memories refer to: the server over REST, or the store of this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlencode, urlsplit

from dolmen.client.asking import ask
from dolmen.client.endpoint import Endpoint
from dolmen.domain.errors import Code, DolmenError

if TYPE_CHECKING:
    from dolmen.domain.code import Check, Target

_MOST = 8 * 1024 * 1024
_CODES: Mapping[int, Code] = {
    400: "invalid-argument", 401: "unauthorized", 403: "forbidden", 404: "not-found", 413: "too-large",
    429: "rate-limited", 503: "unavailable",
}  # fmt: skip


class Desk(Protocol):
    def targets(self, project: str, offset: int, seconds: float) -> Sequence[Target]:
        """What memories of the project refer to, a page from `offset` on; an empty one behind the last."""

    def report(self, project: str, commit: str, checks: Sequence[Check], seconds: float) -> Mapping[str, int]:
        """Keeps what was found; how many references are in each state by that."""


@dataclass(frozen=True, slots=True)
class Served:
    """The desk of a server, asked over its REST interface."""

    endpoint: Endpoint

    def targets(self, project: str, offset: int, seconds: float) -> Sequence[Target]:
        query = urlencode({"project": project, "offset": offset, "checked": 1})
        answer = self._ask("GET", f"/refs?{query}", None, seconds)
        if answer.get("targets") == []:
            return []  # most projects, and most of what follows need not be loaded
        from dolmen.domain.code import Target

        try:
            return [Target(**each) for each in answer["targets"]]
        except (KeyError, TypeError) as error:
            raise self._silent("it answers with something else") from error

    def report(self, project: str, commit: str, checks: Sequence[Check], seconds: float) -> Mapping[str, int]:
        body = {"project": project, "commit": commit, "results": [asdict(check) for check in checks]}
        states = self._ask("POST", "/refs/check", body, seconds).get("states")
        return states if isinstance(states, dict) else {}

    def _ask(self, method: str, target: str, body: object, seconds: float) -> dict[str, Any]:
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if bearer := self.endpoint.bearer(seconds):
            headers["Authorization"] = f"Bearer {bearer}"
        text = None if body is None else json.dumps(body)
        try:
            parts = urlsplit(self.endpoint.url)
            status, said = ask(method, parts, base(parts.path) + target, headers, text, seconds=seconds, most=_MOST)
        except (OSError, ValueError) as error:
            why = "no answer in time" if isinstance(error, TimeoutError) else type(error).__name__
            raise self._silent(getattr(error, "strerror", None) or why) from error
        try:
            answer = json.loads(said)
        except ValueError as error:
            raise self._silent(f"what is there answered {status} with something else") from error
        found = answer if isinstance(answer, dict) else {}
        if status >= 300:
            why = found.get("error") or f"The server answered {status}."
            code: Code = _CODES.get(status, "unavailable")
            raise DolmenError(code, str(why)[:300], "`dolmen doctor` looks at the connection.")
        return found

    def _silent(self, why: str) -> DolmenError:
        return DolmenError(
            "unavailable",
            f"Dolmen does not answer at {self.endpoint.url}: {why}.",
            "`dolmen serve` starts it; DOLMEN_URL names another one.",
        )


def base(path: str) -> str:
    """The REST interface beside an MCP endpoint."""
    before, mcp, _ = path.rstrip("/").rpartition("/mcp")
    return (before if mcp else path.rstrip("/")) + "/api/v1"
