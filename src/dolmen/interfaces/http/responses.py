"""The one shape of an HTTP refusal, and the one table from error codes to statuses."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Send

from dolmen.domain.errors import Code, DolmenError
from dolmen.services.refusing import reason_of, reference

_log = logging.getLogger(__name__)

STATUS: Mapping[Code, int] = {
    "invalid-argument": 400,
    "invalid-project": 400,
    "invalid-time": 400,
    "too-large": 413,
    "secret-detected": 422,
    "not-found": 404,
    "conflict": 409,
    "gone": 410,
    "unauthorized": 401,
    "forbidden": 403,
    "read-only": 403,
    "rate-limited": 429,
    "unavailable": 503,
    "model-unavailable": 503,
    "store-busy": 503,
    "store-too-new": 503,
    "store-unsafe": 503,
    "store-foreign": 503,
    "store-damaged": 503,
    "configuration": 500,
    "internal": 500,
}


class Refusal(DolmenError):
    """A refusal at the door, with what HTTP wants said besides."""

    def __init__(
        self,
        code: Code,
        message: str,
        fix: str,
        *,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(code, message, fix)
        self.status = STATUS[code] if status is None else status
        self.headers = dict(headers or {})


REFUSED = frozenset({401, 403, 429})
"""Somebody was not let in, or not to this. The log has a line for each."""
REST = "/api/v1"
"""Where the interface for programs that are no agents is; its errors are one text."""
MIRROR = f"{REST}/mirror"
"""In it, what `dolmen mirror` calls: it acts on the code of an error, so these have all three parts."""


def refusal(error: DolmenError, path: str = "") -> Response:
    """`{"error": {"code", "message", "fix"}}` with the status of the code; to a request for the REST interface but for
    the mirror's part of it, `{"error": "message fix"}`."""
    status, headers = (error.status, error.headers) if isinstance(error, Refusal) else (STATUS[error.code], {})
    if status == 401:
        headers = {"WWW-Authenticate": "Bearer", **headers}
    if error.code == "store-busy":
        headers = {"Retry-After": "1", **headers}
    if status in REFUSED:
        _log.info("refused id=%s reason=%s", reference(), reason_of(error))
    plain = path.startswith(f"{REST}/") and not path.startswith(MIRROR)
    said = f"{error.message} {error.fix}".strip() if plain else error.as_dict()
    return JSONResponse({"error": said}, status, headers)


def with_headers(send: Send, more: Mapping[str, str]) -> Send:
    """Sends an answer with these headers besides its own."""
    if not more:
        return send

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in more.items():
                headers[name] = value
        await send(message)

    return sending


def rpc_refusal(code: int, message: str, status: int) -> Response:
    """A JSON-RPC error that answers no request in particular."""
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    return Response(json.dumps(body, separators=(",", ":")), status, media_type="application/json")
