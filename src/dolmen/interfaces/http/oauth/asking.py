"""The authorization request: what a client asks for, read from a query, and where the answer goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from dolmen.domain.oauth import Client, OAuthError, Resources, check_challenge, matches
from dolmen.services.oauth import Request

_ONCE = (
    "client_id", "redirect_uri", "response_type", "scope", "state", "resource", "code_challenge",
    "code_challenge_method",
)  # fmt: skip
STATE_LIMIT = 4_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A request whose return address is known to be the client's: from here on, refusals go back to the client."""

    client: Client
    redirect: str
    state: str
    fields: Mapping[str, str]

    def checked(self, resources: Resources) -> Request:
        """The request as services need it.

        Raises:
            OAuthError: what is to be told to the client.
        """
        if self.fields.get("response_type") != "code":
            raise OAuthError("unsupported_response_type", "response_type must be code.")
        challenge = check_challenge(
            self.fields.get("code_challenge", ""), self.fields.get("code_challenge_method", "plain")
        )
        resource = resources.resolve(self.fields.get("resource"))
        return Request(self.client, self.redirect, challenge, resource, self.fields.get("scope", ""))

    def answer(self, issuer: str, **fields: str) -> str:
        """The address to send the browser to, with the answer, the client's state, and who answers (RFC 9207)."""
        parts = urlsplit(self.redirect)
        state = {"state": self.state} if self.state else {}
        query = [*parse_qsl(parts.query, keep_blank_values=True), *{**fields, **state, "iss": issuer}.items()]
        return urlunsplit(parts._replace(query=urlencode(query)))


def read(query: str) -> dict[str, str]:
    """The fields of a query.

    Raises:
        OAuthError: `invalid_request` when one that counts comes twice (RFC 6749 §3.1).
    """
    found: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True, errors="replace"):
        if name in found and name in _ONCE:
            raise OAuthError("invalid_request", f"{name} comes twice.")
        found[name] = value
    return found


def asked_by(client: Client, fields: Mapping[str, str]) -> Asked:
    """The request of a client, once it is certain where the answer may go. Until then nothing is sent anywhere: a
    person sees what is wrong.

    Raises:
        OAuthError: `invalid_request`.
    """
    redirect = fields.get("redirect_uri", "")
    if not redirect and len(client.redirects) == 1:
        redirect = client.redirects[0]
    if not any(matches(registered, redirect) for registered in client.redirects):
        raise OAuthError("invalid_request", "redirect_uri is not one that the client registered.")
    state = fields.get("state", "")
    if len(state) > STATE_LIMIT:
        raise OAuthError("invalid_request", f"state is longer than {STATE_LIMIT} characters.")
    return Asked(client, redirect, state, fields)
