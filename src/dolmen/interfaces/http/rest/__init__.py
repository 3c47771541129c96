"""The REST interface for programs that are no agents, under /api/v1: behind the same door, limits and checks as /mcp.

kmem's own address for new connections stands beside it, with errors as kmem has them.

A resource is an `Endpoint` with a handler for each method; errors are `{"error": "what is wrong, and what to do"}`, but
for the mirror's, which have code, message and fix.
"""

from __future__ import annotations

from functools import partial

from starlette.routing import Route

from dolmen.interfaces.http.door import Door
from dolmen.interfaces.http.limits import Limits
from dolmen.interfaces.http.quotas import Quotas
from dolmen.interfaces.http.responses import MIRROR, REST
from dolmen.interfaces.http.rest import mirror, refs, tokens
from dolmen.interfaces.http.rest.endpoint import Endpoint


def routes(door: Door, limits: Limits, quotas: Quotas) -> list[Route]:
    """Every resource of the interface."""
    at = partial(Endpoint, door, limits, quotas)
    resources = {
        f"{REST}/refs": at({"GET": refs.listed}),
        f"{REST}/refs/check": at({"POST": refs.reported}),
        MIRROR: at({"GET": mirror.about}),
        f"{MIRROR}/notes": at({"GET": mirror.listed}),
        f"{MIRROR}/read": at({"POST": mirror.read}),
        f"{MIRROR}/write": at({"POST": mirror.written}),
    }
    return [
        *(Route(path, endpoint) for path, endpoint in resources.items()),
        Route(tokens.PATH, at({"POST": tokens.created})),
    ]
