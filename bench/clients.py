"""The protocol's own client (the SDK's `ClientSession`) over HTTP and stdio, for measurements."""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from bench.servers import ROOT


class CallFailed(Exception):
    """A tool answered with an error."""


@asynccontextmanager
async def http_session(address: str) -> AsyncIterator[ClientSession]:
    """Connected and initialised."""
    async with streamable_http_client(address) as streams, ClientSession(*streams) as session:
        await session.initialize()
        yield session


@dataclass(frozen=True, slots=True)
class Child:
    session: ClientSession
    pid: int


@asynccontextmanager
async def stdio_session(command: Sequence[str], variables: dict[str, str]) -> AsyncIterator[Child]:
    """A server as a child process, connected and initialised."""
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "stderr").open("w") as errors:
        note = Path(folder) / "pid"
        # The SDK keeps the process to itself, so the shell notes its number before it becomes the server.
        start = StdioServerParameters(
            command="/bin/sh", args=["-c", 'echo $$ > "$0"; exec "$@"', str(note), *command], env=variables, cwd=ROOT
        )
        async with stdio_client(start, errlog=errors) as streams, ClientSession(*streams) as session:
            await session.initialize()
            yield Child(session, int(note.read_text()))


async def call(
    session: ClientSession, tool: str, arguments: dict[str, Any], conversation: str | None = None
) -> dict[str, Any]:
    """What the tool answers, called from a conversation of that id.

    Raises:
        CallFailed: with the tool's own words.
    """
    meta: Any = None if conversation is None else {"dolmen/session_id": conversation}
    result = await session.call_tool(tool, arguments, meta=meta)
    text = "".join(getattr(part, "text", "") for part in result.content)
    if result.is_error:
        raise CallFailed(f"{tool}: {text}")
    said: dict[str, Any] = json.loads(text)
    return said


@dataclass(frozen=True, slots=True)
class Client:
    """The same for code that is not asynchronous."""

    portal: BlockingPortal
    session: ClientSession

    def call(self, tool: str, *, conversation: str | None = None, **arguments: Any) -> dict[str, Any]:
        return self.portal.call(partial(call, self.session, tool, arguments, conversation))


@contextmanager
def connected(address: str) -> Iterator[Client]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(http_session(address)) as session:
        yield Client(portal, session)
