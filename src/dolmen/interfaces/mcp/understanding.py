"""Whether what a client sent is one message of the protocol, and in which words it is told when it is not."""

from __future__ import annotations

import json
from typing import Any

from dolmen.interfaces.mcp import sdk

NO_MESSAGE = "That is no JSON-RPC request or notification."
NO_ID = "The id of a request is a text or a whole number."


def complaint(message: bytes, no_json: str) -> sdk.ErrorData | None:
    """What is wrong with a message as JSON-RPC; None when nothing is. `no_json` is said of what is no JSON."""
    try:
        read = sdk.jsonrpc_message_adapter.validate_json(message, by_name=False)
    except sdk.ValidationError as failure:
        return told(failure, no_json)
    if hasattr(read, "id") or b'"id"' not in message or not _asks(json.loads(message)):
        return None
    return sdk.ErrorData(code=sdk.INVALID_REQUEST, message=NO_ID)


def told(failure: Exception, no_json: str) -> sdk.ErrorData:
    """The error for a message that the SDK could not read."""
    if isinstance(failure, sdk.ValidationError) and failure.errors()[0]["type"] != "json_invalid":
        return sdk.ErrorData(code=sdk.INVALID_REQUEST, message=NO_MESSAGE)
    return sdk.ErrorData(code=sdk.PARSE_ERROR, message=no_json)


def _asks(message: Any) -> bool:
    """Whether it waits for an answer: a request whose id the SDK did not understand passes for a notification."""
    return isinstance(message, dict) and "id" in message
