"""A protocol server for one toolset: both protocol eras, any transport."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
import anyio.to_thread

from dolmen import __version__
from dolmen.domain.identity import agent_name, session_id
from dolmen.domain.operations import within_preset
from dolmen.domain.values import Actor
from dolmen.interfaces.mcp import sdk
from dolmen.interfaces.mcp.attaching import attached
from dolmen.interfaces.mcp.dispatch import Watch, call
from dolmen.interfaces.mcp.registry import Face
from dolmen.services.runtime import Runtime

Context = sdk.ServerRequestContext[Any, Any]
Resolve = Callable[[Context], Actor]
"""Who makes the request; what the transport found out at its door."""

UNKNOWN_AGENT = agent_name(None)

SESSION_KEYS = ("dolmen/session_id", "kenfold/session_id")
"""Where in `_meta` a client names its conversation, for every toolset (C-32); the first that is there counts."""

_LIST_TTL_MS = 3_600_000
"""The tools of a running server do not change; a client may keep the list for an hour."""


def build(
    rt: Runtime,
    face: Face,
    resolve: Resolve,
    *,
    limiter: anyio.CapacityLimiter | None = None,
    watch: Watch | None = None,
    greeted: Callable[[], None] = lambda: None,
) -> sdk.Server[Any]:
    """The server of one toolset. Handlers run in worker threads, at most as many at once as `limiter` admits.

    `greeted` is called whenever the tools are listed or called: the handshake is over, slow preparations may begin.
    """
    tools = {tool.name: _tool(tool.wire()) for tool in face.tools}
    schemas = {tool.name: tool.schema for tool in face.tools}

    async def list_tools(ctx: Context, _: sdk.PaginatedRequestParams | None) -> sdk.ListToolsResult:
        greeted()
        preset = resolve(ctx).preset
        shown = [
            wire for name, wire in tools.items() if preset is None or within_preset(preset, f"{face.toolset}.{name}")
        ]
        return sdk.ListToolsResult(tools=shown)

    async def call_tool(ctx: Context, params: sdk.CallToolRequestParams) -> sdk.CallToolResult:
        greeted()
        actor = in_session(named(resolve(ctx), ctx), params.meta)
        work = partial(call, rt, actor, face, params.name, params.arguments, watch)
        answer = await anyio.to_thread.run_sync(work, limiter=limiter)
        if answer is None:
            raise sdk.MCPError(
                code=sdk.INVALID_PARAMS,
                message=f"Unknown tool: {params.name[:80]}. This connection has: {', '.join(schemas)}.",
            )
        return sdk.CallToolResult(
            content=[sdk.TextContent(type="text", text=answer.text)],
            structured_content=dict(answer.value),
            is_error=answer.failed,
        )

    return sdk.Server(
        "dolmen",
        version=__version__,
        title="Dolmen",
        instructions=face.instructions,
        cache_hints={"tools/list": sdk.CacheHint(_LIST_TTL_MS), "server/discover": sdk.CacheHint(_LIST_TTL_MS)},
        get_tool_input_schema=schemas.get,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        **attached(rt, face, resolve, limiter),
    )


def _tool(wire: dict[str, Any]) -> sdk.Tool:
    return sdk.Tool(
        name=wire["name"],
        description=wire["description"],
        input_schema=wire["inputSchema"],
        annotations=sdk.ToolAnnotations.model_validate(wire["annotations"]),
    )


def named(actor: Actor, ctx: Context) -> Actor:
    """The actor under the name that the client gives itself, where the connection names no agent."""
    if actor.agent != UNKNOWN_AGENT:
        return actor
    client = ctx.session.client_params
    return actor if client is None else replace(actor, agent=agent_name(client.client_info.name))


def in_session(actor: Actor, meta: Mapping[str, Any] | None) -> Actor:
    """The actor in the conversation that the call names; memories that it writes keep its id."""
    ids = (session_id((meta or {}).get(key)) for key in SESSION_KEYS)
    session = next((id for id in ids if id is not None), None)
    return actor if session is None else replace(actor, session=session)
