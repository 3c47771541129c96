"""What several pages say is said the same, and as the program says it."""

from __future__ import annotations

import pytest

from dolmen.domain.note import BLOCK_ID, mark, states_something
from dolmen.interfaces.clients import recipes
from dolmen.markdown import parse
from tests.docs.markdown import FENCE, ROOT

CLAUDE = next(recipe.text for recipe in recipes() if recipe.client == "Claude Code")
DECISIONS = ROOT / "docs" / "decisions"


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial/first-memory.md", "docs/how-to/clients.md"])
def test_the_line_for_claude_code_is_the_one_that_serve_prints(page: str) -> None:
    """C-371."""
    lines = [line.removeprefix("$ ") for line in (ROOT / page).read_text().splitlines() if "claude mcp add" in line]
    assert CLAUDE in lines
    assert [line for line in lines if "--scope user" not in line] == []


def test_the_address_of_a_block_in_the_notes_page_is_that_of_a_block_shown_there() -> None:
    page = (ROOT / "docs/how-to/notes.md").read_text()
    [note] = [each["body"] for each in FENCE.finditer(page) if each["info"] == "markdown"]
    document = parse(note)
    blocks = [each for each in document.blocks if states_something(each)]
    shown = {each[0] for each in BLOCK_ID.finditer(page)}
    assert shown
    assert shown <= {f"blk_{mark(each)}" for each in blocks}
    assert f'"{blocks[0].text.strip()}"' in page, "the command above makes the note that is shown"


def test_the_index_of_decisions_names_every_page_by_its_heading() -> None:
    index = (DECISIONS / "README.md").read_text()
    pages = sorted(DECISIONS.glob("0*.md"))
    lines = [f"- [{page.read_text().splitlines()[0].removeprefix('# ')}]({page.name})" for page in pages]
    assert [line for line in index.splitlines() if line.startswith("- ")] == lines
