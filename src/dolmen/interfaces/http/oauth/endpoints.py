"""What clients call themselves: registration, tokens, revocation. JSON or forms in, JSON out, never cached."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from dolmen.domain.errors import DolmenError
from dolmen.domain.oauth import DEVICE_GRANT, DEVICE_LIFE, INTERVAL, Client, OAuthCode, OAuthError, Resources
from dolmen.domain.values import SECOND
from dolmen.interfaces.http.oauth.assertion import Assertions, claimed
from dolmen.interfaces.http.oauth.fetching import json_object
from dolmen.interfaces.http.oauth.known import KnownClients
from dolmen.interfaces.http.oauth.metadata import authorization_server, protected_resource
from dolmen.services import accounts, oauth
from dolmen.services.oauth import Tokens, Wishes
from dolmen.services.refusing import reference
from dolmen.services.runtime import Runtime

_log = logging.getLogger(__name__)

BODY_LIMIT = 65_536
_UNCACHED = {"Cache-Control": "no-store", "Pragma": "no-cache"}
# Metadata are the same for everybody; pages of other origins may read them, as a browser-based client does.
_PUBLIC = {"Cache-Control": "public, max-age=300", "Access-Control-Allow-Origin": "*"}
_STATUS: dict[OAuthCode, int] = {
    "invalid_client": 401,
    "invalid_token": 401,
    "temporarily_unavailable": 503,
    "access_denied": 403,
}

_CHALLENGES = {"basic": 'Basic realm="Dolmen"', "bearer": 'Bearer error="invalid_token"'}

Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(slots=True)
class Endpoints:
    """The server's side of OAuth, without its pages."""

    rt: Runtime
    base: str
    resources: Resources
    clients: KnownClients
    assertions: Assertions
    registration: bool = True

    # ------------------------------------------------------------------------------------------------------- metadata
    async def resource(self, request: Request) -> Response:
        """RFC 9728, for the resource that the path names."""
        path = request.path_params.get("path", "")
        try:
            resource = self.resources.resolve(f"{self.base}/{path}" if path else None)
        except OAuthError:
            return JSONResponse({"error": "not_found"}, 404)
        return JSONResponse(protected_resource(self.base, resource), headers=_PUBLIC)

    async def server(self, _: Request) -> Response:
        """RFC 8414."""
        return JSONResponse(authorization_server(self.base, registration=self.registration), headers=_PUBLIC)

    # ---------------------------------------------------------------------------------------------------------- calls
    async def register(self, request: Request) -> Response:
        """RFC 7591. With an API key as the initial access token, the client stays within that key (C-306)."""
        if not self.registration:
            raise OAuthError("access_denied", "Clients do not register themselves here; use a client id document.")
        metadata = json_object(await _body(request))
        if metadata is None:
            raise OAuthError("invalid_client_metadata", "The body is no JSON object.")
        client = await to_thread.run_sync(self._registered, request.headers.get("authorization", ""), metadata)
        asked = metadata.get("grant_types") or ()
        return JSONResponse(_registered(client, device=DEVICE_GRANT in asked), 201, _UNCACHED)

    async def token(self, request: Request) -> Response:
        """RFC 6749 §4.1.3 and §6."""
        form = _form(await _body(request))
        client = await self._client(request, form)
        resource = self.resources.resolve(form["resource"]) if form.get("resource") else None
        match form.get("grant_type"):
            case "authorization_code":
                given = await to_thread.run_sync(
                    oauth.redeem, self.rt, client, form.get("code", ""), form.get("code_verifier", ""),
                    form.get("redirect_uri", ""), resource,
                )  # fmt: skip
            case "refresh_token":
                given = await to_thread.run_sync(
                    oauth.refresh, self.rt, client, form.get("refresh_token", ""), form.get("scope", ""), resource
                )
            case grant if grant == DEVICE_GRANT:
                if not form.get("device_code"):
                    raise OAuthError("invalid_request", "device_code is missing.")
                given = await to_thread.run_sync(oauth.redeem_device, self.rt, client, form["device_code"])
            case None | "":
                raise OAuthError("invalid_request", "grant_type is missing.")
            case _:
                raise OAuthError("unsupported_grant_type", f"Use authorization_code, refresh_token or {DEVICE_GRANT}.")
        return JSONResponse(_tokens(given), headers=_UNCACHED)

    async def device(self, request: Request) -> Response:
        """RFC 8628 §3.1. `project` and `toolset` are ours: what the consent page proposes."""
        form = _form(await _body(request))
        client = await self._client(request, form)
        resource = self.resources.resolve(form.get("resource"))
        wishes = Wishes(form.get("project", ""), form.get("toolset", ""))
        secret, shown = await to_thread.run_sync(
            oauth.start_device, self.rt, client, resource, form.get("scope", ""), wishes
        )
        found = {
            "device_code": secret,
            "user_code": shown,
            "verification_uri": f"{self.base}/device",
            "verification_uri_complete": f"{self.base}/device?user_code={shown}",
            "expires_in": DEVICE_LIFE // SECOND,
            "interval": INTERVAL // SECOND,
        }
        return JSONResponse(found, headers=_UNCACHED)

    async def revoke(self, request: Request) -> Response:
        """RFC 7009: 200 whatever the token was, so that nobody learns which ones exist."""
        form = _form(await _body(request))
        client = await self._client(request, form)
        if not form.get("token"):
            raise OAuthError("invalid_request", "token is missing.")
        await to_thread.run_sync(oauth.revoke, self.rt, client, form["token"])
        return Response(status_code=200, headers=_UNCACHED)

    def _registered(self, credential: str, metadata: Mapping[str, Any]) -> Client:
        if not credential:
            return oauth.register(self.rt, metadata)
        scheme, _, secret = credential.strip().partition(" ")
        try:
            key = accounts.authenticate(self.rt, secret.strip() if scheme.lower() == "bearer" else "")
        except DolmenError as error:
            raise OAuthError("invalid_token", error.message) from None
        return oauth.register_with_key(self.rt, key, metadata)

    async def _client(self, request: Request, form: dict[str, str]) -> Client:
        client = await self.clients.get(_public(request, form))
        await self.assertions.check(client, form)
        return client


def answered(endpoint: Endpoint) -> Endpoint:
    """The endpoint with its refusals as JSON, each with a line in the log that names no secret."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except OAuthError as error:
            _log.info("refused id=%s reason=%s at %s: %s", reference(), error.code, request.url.path, error)
            body = {"error": error.code, "error_description": error.description}
            status = _STATUS.get(error.code, 400)
            asked = request.headers.get("authorization", "").partition(" ")[0].lower() if status == 401 else ""
            # RFC 6749 §5.2: who tried to prove itself by a header is answered in its scheme.
            challenge = {"WWW-Authenticate": _CHALLENGES[asked]} if asked in _CHALLENGES else {}
            return JSONResponse(body, status, {**_UNCACHED, **challenge})

    return answer


def _registered(client: Client, *, device: bool) -> dict[str, Any]:
    by_browser = ["authorization_code"] if client.redirects else []
    return {
        "client_id": client.id,
        "client_id_issued_at": client.created_at // 1_000_000,
        "client_name": client.name,
        "redirect_uris": list(client.redirects),
        "grant_types": [*by_browser, "refresh_token", *([DEVICE_GRANT] if device else [])],
        "response_types": ["code"] if client.redirects else [],
        "token_endpoint_auth_method": client.method,
        **({"scope": client.scope} if client.scope else {}),
    }


def _tokens(given: Tokens) -> dict[str, Any]:
    return {
        "access_token": given.access,
        "token_type": "Bearer",
        "expires_in": given.expires_in,
        "refresh_token": given.refresh,
        "scope": given.scope,
    }


async def _body(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_LIMIT:
            raise OAuthError("invalid_request", f"The body is larger than {BODY_LIMIT} bytes.")
    return body


def _form(body: bytes) -> dict[str, str]:
    try:
        fields = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=50)
    except ValueError:
        raise OAuthError("invalid_request", "The body is no form.") from None
    repeated = [name for name, values in fields.items() if len(values) > 1]
    if repeated:
        raise OAuthError("invalid_request", f"{repeated[0][:50]!r} comes twice.")
    return {name: values[0] for name, values in fields.items()}


def _public(request: Request, form: dict[str, str]) -> str:
    """The id of a client. One that also sends a password has been set up for something that is not here."""
    if request.headers.get("authorization", "").lower().startswith("basic ") or form.get("client_secret"):
        raise OAuthError("invalid_client", "Clients here have no secret; send client_id alone, with PKCE.")
    return form.get("client_id", "") or claimed(form)
