"""Markdown as people, editors and accidents write it, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

FRAGMENTS = (
    "# Title",
    "## Información – método ##",
    "Setext\n===",
    "A paragraph\nof two lines.  ",
    "Another one, with `code`, a [link](https://example.org) and #tag",
    "- [decision] We chose session cookies #auth #세션",
    "- [note] Keys rotate monthly #ops",
    "- depends_on [[backend/session-store|the store]]",
    "- plain item\n  - nested\n    deeper",
    "- parent\n  - [fact] nested fact #x\n  - also nested",
    "* star item\n\n  second paragraph of the item",
    "1. first\n2. second",
    "- [ ] a task\n- [x] done",
    "- [Ruff](https://example.org) checks style",
    "> quoted\n> - [fact] in a quote",
    "> [!note] callout\nlazy continuation",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "```py\n# no heading\n\n```",
    "~~~\nnever closed",
    "    indented code\n\n    more",
    "<div>\nhtml\n</div>",
    "<!-- a comment -->",
    "<!-- never closed",
    "***",
    "---",
    "---\nkey: value\n---",
    "[ref]: https://example.org 'x'",
    "[^1]: A footnote with words.",
    "제목과 본문이 있는 문단",
    "日本語の段落。",
    "emoji 🤔 alone",
    "\tTab first",
    "-",
    "- - - x",
    "$$\nx = 1\n$$",
    "a\u2028b\u0085c",
    "\u00a0",
)
GAPS = ("\n", "\n\n", "\n\n\n", " \n\t\n", "\n  \n", "")
FRONT = (
    "",
    "---\ntitle: X\n---\n",
    "---\ntitle: 'Billing: retry rules'   # why\ntags: [a, b]\nlist:\n  - one\n  # inside\n  - two\n# end\n"
    "x: |\n  # text\n  b\n\n---\n",
    "---\nbroken: [\n---\n",
    "---\nopen: yes\n",
    "---\n---\n",
    "\ufeff---\na: 1\n---\n",
    "\ufeff",
)

fragments = st.sampled_from(FRAGMENTS) | st.text(max_size=30) | st.text("-*#>`~ \t\n[]()_|:a1.", max_size=40)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A whole note: front matter, blocks, gaps, one kind of line end or a mixture."""
    parts = [draw(st.sampled_from(FRONT))]
    for fragment in draw(st.lists(fragments, max_size=9)):
        parts += [fragment, draw(st.sampled_from(GAPS))]
    text = "".join(parts)
    newline = draw(st.sampled_from(["\n", "\n", "\r\n", "\r", "mixed"]))
    if newline == "mixed":
        return text.replace("\n", "\r\n", 2)
    return text.replace("\r", "").replace("\n", newline) if newline != "\n" else text


contents = st.lists(fragments, max_size=3).map("\n\n".join)
