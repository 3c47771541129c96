"""Resources and prompts of a toolset: what a client attaches, or a person picks, before a model speaks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import anyio
import anyio.to_thread

from dolmen.domain.errors import DolmenError
from dolmen.domain.operations import RESOURCES, permit
from dolmen.domain.values import Actor
from dolmen.interfaces.mcp import clock, sdk
from dolmen.interfaces.mcp.dispatch import internal
from dolmen.interfaces.mcp.registry import Face, Prompt, Resource
from dolmen.services.runtime import Runtime
from dolmen.store.contract import AuditEntry
from dolmen.store.ids import rising

Context = sdk.ServerRequestContext[Any, Any]
_MARKDOWN = "text/markdown"
_new_id = rising(clock.now)


def attached(
    rt: Runtime, face: Face, resolve: Callable[[Context], Actor], limiter: anyio.CapacityLimiter | None
) -> dict[str, Any]:
    """The handlers of a server for the resources and prompts of its face; none for a face without any, so that the
    server does not claim to have them."""
    return _resources(rt, face, resolve, limiter) | _prompts(face)


def _resources(
    rt: Runtime, face: Face, resolve: Callable[[Context], Actor], limiter: anyio.CapacityLimiter | None
) -> dict[str, Any]:
    if not face.resources:
        return {}
    by_uri = {resource.uri: resource for resource in face.resources}
    listed = [
        sdk.Resource(uri=each.uri, name=each.name, description=each.description, mime_type=_MARKDOWN)
        for each in face.resources
    ]

    async def list_resources(_: Context, __: sdk.PaginatedRequestParams | None) -> sdk.ListResourcesResult:
        return sdk.ListResourcesResult(resources=listed)

    async def read_resource(ctx: Context, params: sdk.ReadResourceRequestParams) -> sdk.ReadResourceResult:
        resource = by_uri.get(str(params.uri))
        if resource is None:
            raise _unknown("resource", str(params.uri), by_uri)
        text = await anyio.to_thread.run_sync(partial(_read, rt, resolve(ctx), resource), limiter=limiter)
        shown = sdk.TextResourceContents(uri=resource.uri, mime_type=_MARKDOWN, text=text)
        return sdk.ReadResourceResult(contents=[shown])

    return {"on_list_resources": list_resources, "on_read_resource": read_resource}


def _read(rt: Runtime, actor: Actor, resource: Resource) -> str:
    """The document, with an audit row; a failure in the protocol's own form, since a resource has no other."""
    try:
        permit(actor, RESOURCES)
        text = resource.read(rt, actor)
    except DolmenError as error:
        raise sdk.MCPError(code=sdk.INVALID_REQUEST, message=f"{error.message} {error.fix}".strip()) from error
    except Exception as error:
        failure = internal(resource.uri)
        raise sdk.MCPError(code=sdk.INVALID_REQUEST, message=f"{failure.message} {failure.fix}") from error
    who = (actor.vault, clock.now(), actor.connection, actor.agent)
    rt.journal.audit(AuditEntry(_new_id(), *who, f"resource:{resource.name}", origin=actor.origin))
    return text


def _prompts(face: Face) -> dict[str, Any]:
    if not face.prompts:
        return {}
    by_name = {prompt.name: prompt for prompt in face.prompts}
    listed = [_prompt(each) for each in face.prompts]

    async def list_prompts(_: Context, __: sdk.PaginatedRequestParams | None) -> sdk.ListPromptsResult:
        return sdk.ListPromptsResult(prompts=listed)

    async def get_prompt(_: Context, params: sdk.GetPromptRequestParams) -> sdk.GetPromptResult:
        prompt = by_name.get(params.name)
        if prompt is None:
            raise _unknown("prompt", params.name, by_name)
        given = {name: text.strip() for name, text in (params.arguments or {}).items() if text.strip()}
        missing = [name for name, _, required in prompt.arguments if required and name not in given]
        if missing:
            raise sdk.MCPError(code=sdk.INVALID_PARAMS, message=f"{prompt.name} needs {', '.join(missing)}.")
        message = sdk.PromptMessage(role="user", content=sdk.TextContent(type="text", text=prompt.text(given)))
        return sdk.GetPromptResult(description=prompt.description, messages=[message])

    return {"on_list_prompts": list_prompts, "on_get_prompt": get_prompt}


def _prompt(prompt: Prompt) -> sdk.Prompt:
    return sdk.Prompt(
        name=prompt.name,
        description=prompt.description,
        arguments=[
            sdk.PromptArgument(name=name, description=says, required=required)
            for name, says, required in prompt.arguments
        ],
    )


def _unknown(what: str, name: str, known: dict[str, Any]) -> sdk.MCPError:
    return sdk.MCPError(
        code=sdk.INVALID_PARAMS, message=f"Unknown {what}: {name[:80]}. This connection has: {', '.join(known)}."
    )
