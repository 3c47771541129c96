"""Where a server wants to be signed in to: from its refusal (RFC 6750) to the resource's metadata (RFC 9728) to the
authorization server's (RFC 8414)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from dolmen.client.signin import wire
from dolmen.client.signin.kept import place_of
from dolmen.domain.errors import DolmenError

_PROBE = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
_METADATA = re.compile(r'resource_metadata="([^"]+)"')
_RESOURCE = "/.well-known/oauth-protected-resource"
_SERVERS = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration")


@dataclass(frozen=True, slots=True)
class Found:
    """What signing in to a server needs."""

    url: str
    """Of the MCP endpoint, without a toolset."""
    resource: str
    issuer: str
    token: str
    device: str
    registration: str
    revocation: str
    """Endpoints; the last two are empty where there are none."""


def find(url: str) -> Found:
    """What a server says about signing in to it.

    Args:
        url: as a person types it, with or without `/mcp` at its end.

    Raises:
        DolmenError: `invalid-argument` for an address that is none or without TLS; `unavailable`; `conflict` when
            nothing needs signing in, or there is no way for a machine to.
    """
    place = place_of(wire.require_private(url if "://" in url else f"https://{url}"))
    about = _about_resource(place)
    resource = str(about.get("resource") or "")
    if not _same(resource, place):
        # Metadata of another resource would give this server tokens for that one (RFC 9728 §3.3).
        raise _useless(place, f"it speaks of {resource[:200] or 'nothing'}")
    servers = about.get("authorization_servers")
    issuer = str(servers[0]) if isinstance(servers, list) and servers else ""
    server = _about_server(place, issuer)
    device, token = (str(server.get(name) or "") for name in ("device_authorization_endpoint", "token_endpoint"))
    if not device or not token:
        raise DolmenError(
            "conflict", f"{issuer} lets no machine without a browser sign in.", "Use a key: DOLMEN_URL and DOLMEN_KEY."
        )
    found = Found(
        url=place,
        resource=resource,
        issuer=issuer,
        token=token,
        device=device,
        registration=str(server.get("registration_endpoint") or ""),
        revocation=str(server.get("revocation_endpoint") or ""),
    )
    for endpoint in (found.token, found.device, found.registration, found.revocation):
        if endpoint:
            wire.require_private(endpoint)
    return found


def _about_resource(place: str) -> Mapping[str, Any]:
    refused = wire.post_json(place, _PROBE)
    if refused.status < 300:
        raise DolmenError("conflict", f"{place} lets this machine in without signing in.", "Use it as it is.")
    if refused.status != 401:
        raise _useless(place, f"it answers with status {refused.status}")
    named = _METADATA.search(refused.challenge)
    for address in [named[1]] if named else _well_known(place, _RESOURCE):
        answer = wire.get(address)
        if answer.status == 200 and answer.body:
            return answer.body
    raise DolmenError(
        "conflict",
        f"Nobody signs in at {place}: it asks for a key.",
        "Set DOLMEN_PUBLIC_URL on the server, or use a key: DOLMEN_URL and DOLMEN_KEY.",
    )


def _about_server(place: str, issuer: str) -> Mapping[str, Any]:
    wire.require_private(issuer)
    for path in _SERVERS:
        for address in _well_known(issuer, path):
            answer = wire.get(address)
            # Anybody could publish metadata that name another issuer (RFC 8414 §3.3).
            if answer.status == 200 and answer.body.get("issuer") == issuer:
                return answer.body
    raise _useless(place, f"{issuer} has no metadata of its own")


def _well_known(address: str, name: str) -> Iterator[str]:
    """Where metadata are: between host and path, as the RFCs say; or behind it, where a proxy hands on a path alone."""
    parts = urlsplit(address)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    yield f"{origin}{name}{path}"
    if path:
        yield f"{address.rstrip('/')}{name}"


def _same(resource: str, place: str) -> bool:
    try:
        one, other = urlsplit(resource), urlsplit(place)
        ports = [each.port or {"http": 80, "https": 443}.get(each.scheme) for each in (one, other)]
    except ValueError:
        return False
    same = (one.scheme, one.hostname, one.path.rstrip("/")) == (other.scheme, other.hostname, other.path.rstrip("/"))
    return same and ports[0] == ports[1]


def _useless(place: str, why: str) -> DolmenError:
    return DolmenError(
        "unavailable", f"{place} cannot be signed in to: {why}.", "Give the address that its owner gives."
    )
