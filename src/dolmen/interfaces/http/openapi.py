"""What programs that are no agents can call, as OpenAPI 3.1: published at /api/v1/openapi.json, and tested against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_args

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dolmen import __version__
from dolmen.domain.code import Check
from dolmen.domain.mirroring import Waiting, WriteOp
from dolmen.interfaces import quick
from dolmen.interfaces.http.options import HttpOptions
from dolmen.interfaces.http.responses import MIRROR, REST, STATUS
from dolmen.interfaces.mcp.registry import face
from dolmen.services.notes.mirror_desk import PAGE, READS, WRITES

PATH = f"{REST}/openapi.json"
Spec = dict[str, Any]

_TEXT: Spec = {"type": "string"}
_MAYBE: Spec = {"type": ["string", "null"]}
_NUMBER: Spec = {"type": "integer", "minimum": 0}
_COUNTS: Spec = {"type": "object", "additionalProperties": _NUMBER}
_TARGET = ("path", "symbol", "anchor_commit", "anchor_hash", "checked_commit")
_REFUSALS = sorted({str(status) for status in STATUS.values()} | {"408", "421"})
"""What any call may be answered with; the table of errors says when."""


def routes(options: HttpOptions) -> list[Route]:
    """Where the document is. It tells of no memory, so anybody may read it."""
    found = document(options)

    async def published(_: Request) -> Response:
        return JSONResponse(found, headers={"Cache-Control": "public, max-age=300"})

    return [Route(PATH, published)]


def document(options: HttpOptions) -> Spec:
    """The document of a server."""
    keyed: Spec = {"security": [{"bearer": []}]}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Dolmen",
            "version": __version__,
            "description": "For programs that are no agents; agents speak MCP at /mcp.",
        },
        "servers": [{"url": options.public_url.strip().rstrip("/") or "/"}],
        "paths": {
            f"{REST}/refs": {"get": {**_refs(), **keyed}},
            f"{REST}/refs/check": {"post": {**_check(), **keyed}},
            **{MIRROR + path: {how: {**said, **keyed}} for path, (how, said) in _mirror().items()},
            f"{quick.PATH}": {"get": {**_page(), **keyed}},
            f"{quick.PATH}/recall": {"get": {**_tool("recall"), **keyed}},
            f"{quick.PATH}/read": {"get": {**_tool("read"), **keyed}},
            f"{quick.PATH}/propose": {"post": {**_propose(), **keyed}},
            "/health": {"get": _health()},
            "/metrics": {"get": {**_metrics(), **keyed}},
            **(_sign_in() if options.base else {}),
        },
        "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}},
    }


# ------------------------------------------------------------------------------------------------------ code references
def _refs() -> Spec:
    target = _object(dict.fromkeys(_TARGET, _TEXT), required=["path", "symbol"])
    answer = _object({"scope": _TEXT, "targets": _list(target, 500)}, required=["scope", "targets"])
    parameters = [
        _query("project", _TEXT, "The project; the connection's own without it."),
        _query("offset", {**_NUMBER, "maximum": 999_999_999}, "Where the page begins."),
        _query("checked", {"enum": ["0", "1"]}, "1: say also at which commit somebody looked last."),
    ]
    return _operation("What memories of a project refer to", answer, parameters=parameters, error=_PLAIN)


def _check() -> Spec:
    kinds = {each.name: {"type": "boolean"} if each.name == "found" else _TEXT for each in fields(Check)}
    body = _object(
        {"project": {"type": ["string", "null"]}, "commit": _TEXT, "results": _list(_object(kinds), 1000)},
        required=["commit", "results"],
    )
    told = {"updated": _NUMBER, "anchored": _NUMBER, "unmatched": _NUMBER, "states": _COUNTS}
    return _operation("Keep what a client found", _object(told, required=list(told)), body=body, error=_PLAIN)


# -------------------------------------------------------------------------------------------------------------- mirror
def _mirror() -> Mapping[str, tuple[str, Spec]]:
    """What `dolmen mirror` calls, by path: the method and the operation."""
    project = _query("project", _TEXT, "The project; the connection's own without it.")
    after = _query("after", _TEXT, "The `next` of the page before.")
    yes = {"type": "boolean"}
    standing = {"id": _TEXT, "version": _NUMBER, "changed_at": _NUMBER, "place": _TEXT, "was_file": yes}
    note = {"standing": _whole(standing), "sha": _TEXT, "live": yes, "here": yes}
    wanted = {"id": _TEXT, "sha": _TEXT, "after": _NUMBER}
    reading = _object(
        {
            "project": _MAYBE,
            "notes": _list(_TEXT, READS),
            "sources": _list(_object(wanted, ["id", "sha"]), READS),
            "proposals": _list(_TEXT, READS),
        }
    )
    found = _whole(
        {
            "notes": _list(_or_null(_whole({**note, "source": _TEXT})), READS),
            "sources": _list(_MAYBE, READS),
            "proposals": _list({"enum": list(get_args(Waiting))}, READS),
            "purged": _list(_TEXT, READS),
        }
    )
    write = {
        "op": {"enum": list(get_args(WriteOp))},
        **dict.fromkeys(("id", "path", "source", "seen", "reason"), _TEXT),
    }
    writing = _object({"project": _MAYBE, "writes": _list(_object(write, ["op", "id"]), WRITES)}, ["writes"])
    done = _object({"note": _or_null(_whole(note)), "proposal": _TEXT, "error": _whole(_ERROR)})
    told = _whole({"vault": _TEXT, "scope": _TEXT, "mode": {"enum": ["read", "suggest", "write"]}, "newest": _TEXT})
    page = _whole({"notes": _list(_whole(standing), PAGE), "next": _MAYBE})
    results = _whole({"results": _list(done, WRITES)})
    return {
        "": ("get", _operation("Which notes a mirror keeps in step", told, parameters=[project])),
        "/notes": ("get", _operation("The live notes of a project", page, parameters=[project, after])),
        "/read": ("post", _operation("What many notes say, and said", found, body=reading)),
        "/write": ("post", _operation("Write many notes; safe to send again", results, body=writing)),
    }


# -------------------------------------------------------------------------------------------------------- Quick Connect
def _page() -> Spec:
    return _operation("What to paste to an agent", None, media="text/markdown")


def _tool(name: str) -> Spec:
    """A tool of kmem's whose arguments stand in the query, as texts."""
    tool = next(each for each in face("kmem").tools if each.name == name)
    required = tool.schema.get("required", [])
    parameters = [
        {**_query(field, _TEXT, str(about.get("description", ""))), "required": field in required}
        for field, about in tool.schema["properties"].items()
    ]
    return _operation(tool.description.partition(". ")[0], {"type": "object"}, parameters=parameters)


def _propose() -> Spec:
    body = {"type": "object", "description": "The arguments of `remember`, or of `edit` with `ref` and `op`."}
    return _operation("Propose something to a person", {"type": "object"}, body=body)


# --------------------------------------------------------------------------------------------------------- surroundings
def _health() -> Spec:
    answer = {"type": "object", "properties": {"status": _TEXT}, "required": ["status"]}
    found = _operation("Whether it works; with the facts for who could come in", answer)
    found["responses"]["503"] = {"description": "It does not work", **_content(answer)}
    return found


def _metrics() -> Spec:
    return _operation("Figures for Prometheus", None, media="text/plain")


def _sign_in() -> Spec:
    """The calls of clients that sign in (docs/how-to/sign-in.md)."""
    metadata = {"type": "object", "required": ["issuer"], "properties": {"issuer": _TEXT}}
    token = _form("grant_type", "client_id", "code", "code_verifier", "redirect_uri", "refresh_token", "device_code",
                  "scope", "resource")  # fmt: skip
    asked = _form("client_id", "scope", "resource", "project", "toolset")
    register = {"type": "object", "properties": {"client_name": _TEXT, "redirect_uris": {"type": "array"}}}
    calls = {
        "/oauth/token": _operation("Tokens (RFC 6749)", {"type": "object"}, form=token, error=_CODE),
        "/oauth/device_authorization": _operation("RFC 8628", {"type": "object"}, form=asked, error=_CODE),
        "/oauth/revoke": _operation("RFC 7009", None, form=_form("token", "client_id"), error=_CODE, media=""),
        "/oauth/register": _operation("RFC 7591", {"type": "object"}, body=register, error=_CODE, status="201"),
    }
    found: Spec = {path: {"post": operation} for path, operation in calls.items()}
    found["/.well-known/oauth-authorization-server"] = {"get": _operation("RFC 8414", metadata)}
    return found


# ---------------------------------------------------------------------------------------------------------------- parts
_ERROR = {"code": _TEXT, "message": _TEXT, "fix": _TEXT}
_WORDED: Spec = {
    "type": "object",
    "properties": {"error": {"type": "object", "properties": _ERROR, "required": list(_ERROR)}},
    "required": ["error"],
}
_PLAIN: Spec = {"type": "object", "properties": {"error": _TEXT}, "required": ["error"]}
_CODE: Spec = {"type": "object", "properties": {"error": {}}, "required": ["error"]}


def _operation(
    summary: str,
    answer: Spec | None,
    *,
    parameters: list[Spec] | None = None,
    body: Spec | None = None,
    form: Spec | None = None,
    error: Spec = _WORDED,
    media: str = "application/json",
    status: str = "200",
) -> Spec:
    refused = {"description": "Refused, with what to do", **_content(error)}
    given: Spec = {"description": "Done", **(_content(answer or _TEXT, media) if media else {})}
    found: Spec = {"summary": summary, "responses": {**dict.fromkeys(_REFUSALS, refused), status: given}}
    if parameters:
        found["parameters"] = parameters
    if body is not None:
        found["requestBody"] = {"required": True, **_content(body)}
    if form is not None:
        found["requestBody"] = {"required": True, **_content(form, "application/x-www-form-urlencoded")}
    return found


def _content(schema: Spec, media: str = "application/json") -> Spec:
    return {"content": {media: {"schema": schema}}}


def _object(properties: Mapping[str, Any], required: list[str] | None = None) -> Spec:
    found: Spec = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return {**found, "required": required} if required else found


def _whole(properties: Mapping[str, Any]) -> Spec:
    """An object that has all of these."""
    return _object(properties, required=list(properties))


def _or_null(schema: Spec) -> Spec:
    return {"anyOf": [schema, {"type": "null"}]}


def _form(*names: str) -> Spec:
    return {"type": "object", "properties": dict.fromkeys(names, _TEXT)}


def _list(items: Spec, most: int) -> Spec:
    return {"type": "array", "items": items, "maxItems": most}


def _query(name: str, schema: Spec, description: str) -> Spec:
    return {"name": name, "in": "query", "schema": schema, "description": description}
