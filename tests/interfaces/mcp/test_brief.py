"""The brief of the core toolset: what a client attaches before the model speaks (C-197 to C-199)."""

from __future__ import annotations

import pytest
from mcp import Client

from dolmen.interfaces.mcp.toolsets.core.attached import HOW
from dolmen.services.notes.creating import create_note
from dolmen.services.requests.notes import NewNote
from tests.interfaces.conftest import ERAS, Served

RULES = "---\ntype: convention\nbriefing: true\n---\n# Rules\n\n- Use snake_case.\n"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def brief(served: Served, path: str, era: str) -> str:
    async with Client(served.base + path, mode=era) as client:
        return (await client.read_resource("dolmen://brief")).contents[0].text  # type: ignore[union-attr]


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_the_core_toolset_has_the_brief_that_kmem_has(served: Served, era: str) -> None:
    """C-199: one renderer, the same conventions; only the way of using the door and the scheme differ."""
    create_note(served.rt, served.owner(), NewNote(RULES, permalink="rules"))
    mine, kmems = await brief(served, "/mcp", era), await brief(served, "/mcp/kmem", era)
    assert HOW in mine
    assert "<!-- dolmen://rules -->\n\n# Rules\n\n- Use snake_case." in mine
    conventions = [text.partition("# Conventions")[2].replace("kmem://", "dolmen://") for text in (mine, kmems)]
    assert conventions[0] == conventions[1]
    async with Client(served.base + "/mcp", mode=era) as client:
        [listed] = (await client.list_resources()).resources
    assert (str(listed.uri), listed.mime_type) == ("dolmen://brief", "text/markdown")
