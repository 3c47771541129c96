"""What clients read before they sign in (RFC 9728, RFC 8414)."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from dolmen.domain.oauth import DEVICE_GRANT, SCOPES
from dolmen.interfaces.http.oauth.assertion import ALGORITHMS

PROTECTED = "/.well-known/oauth-protected-resource"
SERVER = "/.well-known/oauth-authorization-server"
OPENID = "/.well-known/openid-configuration"


def is_metadata(path: str) -> bool:
    """Whether a document that says how to sign in is there. It holds no secret, is the same for everybody, and a client
    that runs in a web page reads it from wherever that page comes (RFC 9728 §3.1, RFC 8414 §3.1: an HTTP GET)."""
    return path in (PROTECTED, SERVER, OPENID) or path.startswith(f"{PROTECTED}/")


def protected_resource(base: str, resource: str) -> dict[str, Any]:
    """About one resource; its address is the one that a person typed (B073)."""
    return {
        "resource": resource,
        "resource_name": "Dolmen",
        "authorization_servers": [base],
        "scopes_supported": list(SCOPES),
        "bearer_methods_supported": ["header"],
    }


def authorization_server(base: str, *, registration: bool) -> dict[str, Any]:
    """About the server itself. Only what exists is named (B070): clients try what they read here."""
    found = {
        "issuer": base,
        "authorization_endpoint": f"{base}/oauth/authorize",
        "token_endpoint": f"{base}/oauth/token",
        "revocation_endpoint": f"{base}/oauth/revoke",
        "device_authorization_endpoint": f"{base}/oauth/device_authorization",
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token", DEVICE_GRANT],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none", "private_key_jwt"],
        "token_endpoint_auth_signing_alg_values_supported": ALGORITHMS,
        "revocation_endpoint_auth_methods_supported": ["none", "private_key_jwt"],
        "revocation_endpoint_auth_signing_alg_values_supported": ALGORITHMS,
        "scopes_supported": list(SCOPES),
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
    }
    if registration:
        found["registration_endpoint"] = f"{base}/oauth/register"
    return found


def where(base: str, path: str) -> str:
    """The address of the metadata of a resource at a path. A stranger wrote the path: a header holds no character of it
    that could end the header."""
    return f"{base}{PROTECTED}{quote(path, safe='/')}"


def challenge(base: str, resource: str, *, presented: bool, realm: str = "") -> str:
    """The `WWW-Authenticate` header of a 401: where a client finds out how to sign in, and what it may ask for."""
    parts = [f'resource_metadata="{where(base, resource.removeprefix(base))}"', 'scope="read suggest write"']
    if presented:
        parts.insert(0, 'error="invalid_token"')
    if realm:
        parts.insert(0, f'realm="{realm}"')
    return "Bearer " + ", ".join(parts)
