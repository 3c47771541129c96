"""Every link inside the documents leads somewhere."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.markdown import ROOT, anchors, command_lines, links, name, pages


@pytest.mark.parametrize("page", pages(), ids=name)
def test_every_link_of_the_page_leads_to_a_file_and_a_heading_that_exist(page: Path) -> None:
    broken = []
    for link in links(page.read_text()):
        if link.startswith(("http://", "https://", "mailto:", "dolmen://")):
            continue
        path, _, fragment = unquote(link).partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or not target.is_relative_to(ROOT):
            broken.append(link)
        elif fragment and target.suffix == ".md" and fragment not in anchors(target.read_text()):
            broken.append(link)
    assert broken == []


def test_the_readme_leads_to_every_page() -> None:
    linked = {(ROOT / link.partition("#")[0]).resolve() for link in links((ROOT / "README.md").read_text())}
    kinds = ("tutorial", "how-to", "reference", "explanation")
    assert [name(page) for kind in kinds for page in (ROOT / "docs" / kind).glob("*.md") if page not in linked] == []


def test_a_broken_link_would_be_found() -> None:
    text = (
        "See [a](b.md#c-d), [`x` and (y)](z.md) and `[not](a-link)`.\n```\n[nor](this)\n```\n## C: d\n## C d\n## C d\n"
    )
    assert links(text) == ["b.md#c-d", "z.md"]
    assert anchors(text) == {"c-d", "c-d-1", "c-d-2"}


def test_command_lines_are_found_wherever_a_reader_would_copy_them() -> None:
    text = (
        "Use `dolmen stats` or `other`.\n```sh\n$ A=1 dolmen key \\\n  create | tee x  # why\n"
        "claude mcp add dolmen -- .venv/bin/dolmen mcp\n```\n```python\ndolmen x\n```\n"
    )
    assert sorted(command_lines(text, "dolmen")) == [["key", "create"], ["mcp"], ["stats"]]
