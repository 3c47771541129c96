"""A client may name its conversation with each call, in whichever toolset (C-32)."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import Client

from tests.interfaces.conftest import ERAS, Served

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def session_of(agent: Client, content: str, meta: dict[str, Any] | None) -> str | None:
    """The session that a memory written with this `_meta` keeps."""
    stored = await agent.call_tool("remember", {"memories": [{"content": content}]}, meta=meta)  # type: ignore[arg-type]
    assert stored.structured_content is not None
    [result] = stored.structured_content["results"]
    read = await agent.call_tool("read", {"ref": result["ref"]})
    assert read.structured_content is not None
    return read.structured_content.get("session")


@pytest.mark.parametrize("era", ERAS)
async def test_what_is_written_keeps_the_session_that_the_call_names(served: Served, era: str) -> None:
    async with Client(served.url, mode=era) as agent:
        assert await session_of(agent, "Said in one.", {"dolmen/session_id": " s-1 "}) == "s-1"
        assert await session_of(agent, "Said in two.", {"kenfold/session_id": "s-2"}) == "s-2"
        both = {"kenfold/session_id": "theirs", "dolmen/session_id": "ours"}
        assert await session_of(agent, "Said in both.", both) == "ours"
        assert await session_of(agent, "Said nowhere.", None) is None
        assert await session_of(agent, "Said badly.", {"dolmen/session_id": 7, "kenfold/session_id": "a\nb"}) is None


async def test_a_session_ends_with_the_call_that_named_it(served: Served) -> None:
    async with Client(served.url) as agent:
        assert await session_of(agent, "First.", {"dolmen/session_id": "s-1"}) == "s-1"
        assert await session_of(agent, "Second.", None) is None
