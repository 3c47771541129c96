"""A table is one block, found where markdown-it finds it, at a cost that grows with its text alone."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from dolmen.markdown import parse
from dolmen.markdown.parsing import _parser

_INSIDE = ("thead", "tbody", "tr", "th", "td", "inline")
rows = st.text(alphabet="|\\ab-: \t>*#\u2003\xa0`1.", max_size=14)
heads = st.sampled_from(["|a|b|", "a|b", "|a", "a\\|b|c", "> |a|b|", "- |a|b|"])
rules = st.sampled_from(["|-|-|", "-|-", "|-", ":-:|-:", "> |-|-|", "  |-|-|"])
documents = st.builds(
    lambda before, head, rule, after: "\n".join([*before, head, rule, *after]),
    st.lists(rows, max_size=2), heads, rules, st.lists(rows, max_size=6),
)  # fmt: skip


@given(documents)
@example("|a|b|\n|-|-|")
@example("|a|\n|-|\n" + "\n".join("|" * n for n in range(9)))
@example("|" + "a|" * 300 + "\n|" + "-|" * 300 + "\n" + "|a\n" * 300)
def test_tables_end_where_markdown_it_ends_them(source: str) -> None:
    theirs = MarkdownIt("commonmark").enable("table").parse(source)
    ours = _parser().parse(source)
    assert [(t.type, t.map) for t in ours if not t.type.startswith(_INSIDE)] == [
        (t.type, t.map) for t in theirs if not t.type.startswith(_INSIDE)
    ]


@pytest.mark.parametrize("cells", [1, 3, 40, 400])
def test_a_large_table_is_read_in_a_moment(cells: int) -> None:
    """One of 600 kB with 40 cells a row took 5 seconds and a gigabyte of tokens."""
    row = "|" + "a b|" * cells + "\n"
    source = "|" + "a|" * cells + "\n|" + "-|" * cells + "\n" + row * (600_000 // len(row))
    began = time.process_time()
    [block] = parse(source).blocks
    assert time.process_time() - began < 2.0
    assert (block.type, block.end) == ("table", len(source))
