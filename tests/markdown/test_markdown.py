"""Where blocks, sections and properties stand, and how one is exchanged."""

from __future__ import annotations

import time

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.note import states_something
from dolmen.markdown import append, parse, prepend, read_properties, replace_block, set_property

NOTE = """---
title: "Auth: decision"   # quoted
tags: [auth, web]
list:
  - one
  # inside
  - two
# after
owner: ankur
---
# Auth

Intro of
two lines.

## Rules
- [decision] We chose cookies #auth
- depends_on [[backend/store]]
- parent
  - [fact] nested #x
  - plain nested
    deeper
- whole
  - not split

| a | b |
|---|---|
| 1 | 2 |

```py
# no heading
```

[ref]: https://example.org
"""


def test_a_list_item_is_a_block_and_everything_else_as_commonmark_sees_it() -> None:
    blocks = parse(NOTE).blocks
    assert [(b.type, b.text) for b in blocks] == [
        ("heading", "# Auth"),
        ("paragraph", "Intro of\ntwo lines."),
        ("heading", "## Rules"),
        ("item", "- [decision] We chose cookies #auth"),
        ("item", "- depends_on [[backend/store]]"),
        ("item", "- parent"),
        ("item", "- [fact] nested #x"),
        ("item", "- plain nested\n  deeper"),
        ("item", "- whole\n  - not split"),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("code", "```py\n# no heading\n```"),
        ("definition", "[ref]: https://example.org"),
    ]
    assert blocks[1].heading == ("Auth",)
    assert blocks[3].heading == ("Auth", "Rules")
    assert sum(map(states_something, blocks)) == len(blocks) - 2


def test_only_an_observation_among_look_alikes_is_one() -> None:
    """B141"""
    text = "[Ruff](https://x) checks style\n\n[[Ruff]] checks style\n\n- [fact] Ruff checks style\n"
    assert [b.type for b in parse(text).blocks] == ["paragraph", "paragraph", "item"]


@pytest.mark.parametrize("heading", ["Rules", "rules", "## RULES", " Ru les "])
def test_a_section_is_its_heading_and_everything_below_it(heading: str) -> None:
    """C-235: the match ignores case and white space."""
    found = parse(NOTE).section(heading)
    assert found is not None
    assert NOTE[slice(*found)].startswith("## Rules\n- [decision]")
    assert NOTE[slice(*found)].endswith("example.org\n")
    assert parse(NOTE).section("Missing") is None


def test_a_section_with_accents_is_found_and_replaced_in_place() -> None:
    """B046"""
    source = "# A\n\n## Información – método\n\nold\n\n## Next\n\nkept\n"
    document = parse(source)
    found = document.section("información – método")
    assert found is not None
    assert source[slice(*found)] == "## Información – método\n\nold\n\n"
    assert replace_block(document, 2, "new").document.source == source.replace("old", "new")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("ended", [True, False])
def test_appended_text_takes_the_notes_line_ends(newline: str, ended: bool) -> None:
    """C-101"""
    source = newline.join(["# A", "", "- one"]) + (newline if ended else "")
    after = append(parse(source), "- [note] two\n  lines\n").document.source
    assert after == newline.join(["# A", "", "- one", "- [note] two", "  lines"]) + (newline if ended else "")
    assert append(parse(source), "Words").document.source.removesuffix(newline).endswith(f"one{newline}{newline}Words")


def test_text_goes_to_the_top_of_the_body_below_front_matter() -> None:
    """C-101"""
    assert prepend(parse("---\na: 1\n---\n# T\n"), "First.").document.source == "---\na: 1\n---\nFirst.\n\n# T\n"
    assert prepend(parse(""), "First.").document.source == "First.\n"
    with pytest.raises(DolmenError):
        prepend(parse("# T\n"), "```\nnever closed")


def test_a_block_is_replaced_in_its_place() -> None:
    """C-101"""
    document = parse(NOTE)
    assert replace_block(document, 3, "- [decision] Tokens").document.source == NOTE.replace(
        "We chose cookies #auth", "Tokens"
    )
    assert "\n- bare words\n- depends_on" in replace_block(document, 3, "bare words").document.source
    assert "\n  - [fact] other\n    line\n  - plain" in replace_block(document, 6, "[fact] other\nline").document.source
    assert replace_block(document, 9, "").document.source == NOTE.replace("| a | b |\n|---|---|\n| 1 | 2 |\n", "")
    assert replace_block(document, 1, "").document.source.endswith(NOTE[NOTE.index("## Rules") :])


def test_a_replacement_that_would_change_another_block_is_written_apart_or_refused() -> None:
    document = parse("One\n\n***\n\nafter\n")
    assert replace_block(parse("- a\n---\n"), 0, "words").document.source == "- words\n---\n"
    assert [b.type for b in replace_block(parse("> q\n---\n"), 0, "words").document.blocks] == ["paragraph", "rule"]
    with pytest.raises(DolmenError, match="other blocks") as refused:
        replace_block(document, 0, "```\nopen")
    assert refused.value.fix
    with pytest.raises(DolmenError, match="below it"):
        replace_block(parse(NOTE), 5, "")


def test_properties_are_read_as_their_writer_meant_them() -> None:
    found = read_properties("---\na: yes\nb: 2024-01-02\nc: 1\nd: true\ne:\nf: [x, 'y']\ng: {h: 0123}\n---\n")
    assert found.values == {
        "a": "yes", "b": "2024-01-02", "c": 1, "d": True, "e": None, "f": ["x", "y"], "g": {"h": "0123"},
    }  # fmt: skip
    assert read_properties("No front matter").values == {}
    assert "line 3" in read_properties("---\na: [\n---\n").error


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("title", "New", '"Auth: decision"', "New"),
        ("title", "a: b", '"Auth: decision"', '"a: b"'),
        ("tags", ["x"], "[auth, web]", "[x]"),
        ("list", ["three"], "\n  - one\n  # inside\n  - two\n", "\n  - three\n"),
        ("owner", "ada", "owner: ankur", "owner: ada"),
        ("owner", None, "owner: ankur\n", ""),
        ("briefing", True, "owner: ankur\n", "owner: ankur\nbriefing: true\n"),
        ("tags", None, "tags: [auth, web]\n", ""),
    ],
)
def test_a_property_is_set_in_place_and_comments_stay(key: str, value: object, old: str, new: str) -> None:
    """C-101"""
    assert set_property(NOTE, key, value) == NOTE.replace(old, new)  # type: ignore[arg-type]  # JSON values


def test_a_title_with_a_colon_reads_back_as_it_is() -> None:
    """B136"""
    title = "Billing: retry rules (part: 2)"
    assert read_properties(set_property("# x\n", "title", title)).values == {"title": title}


def test_tags_are_plain_list_items_and_setting_them_again_changes_nothing() -> None:
    """B140"""
    once = set_property("# x\n", "tags", ["release"])
    assert once == "---\ntags:\n  - release\n---\n# x\n"
    assert set_property(once, "tags", ["release"]) == once


def test_front_matter_comes_and_goes_with_its_properties() -> None:
    assert set_property("body\n", "a", 1) == "---\na: 1\n---\nbody\n"
    assert set_property("---\na: 1\n---\nbody\n", "a", None) == "body\n"
    assert set_property("---\r\nb: 2\r\n---\r\nbody", "a", "x") == "---\r\nb: 2\r\na: x\r\n---\r\nbody"


@pytest.mark.parametrize("source", ["---\na: 1\nno end\n", "---\na: [\n---\nx\n", "---\na: &x 1\nb: *x\n---\n"])
def test_front_matter_that_cannot_be_changed_alone_is_refused_with_the_reason(source: str) -> None:
    """B138"""
    with pytest.raises(DolmenError) as refused:
        set_property(source, "a", "new")
    assert refused.value.code == "invalid-argument"
    assert "replace_note" in refused.value.fix


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert [b.type for b in parse("---\nwords\n---\n").blocks] == ["rule", "heading"]


@pytest.mark.parametrize(
    "source",
    ["word " * 200_000, ">" * 1_000_000, "- " * 500_000, "[[" * 500_000, "`a" * 500_000, "#" * 1_000_000],
    ids=["words", "quotes", "bullets", "brackets", "ticks", "hashes"],
)
def test_a_million_characters_are_read_in_little_time(source: str) -> None:
    """C-239"""
    begun = time.perf_counter()
    document = parse(source)
    assert document.blocks[0].start == 0
    assert time.perf_counter() - begun < 5


def test_aliases_of_aliases_cost_nothing() -> None:
    """Ten lines that say ten to the tenth values."""
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]" for before, name in zip("abcdefghi", "bcdefghij")]
    for text in ("\n".join(lines), "a: &a [*a, *a]"):
        found = read_properties(f"---\n{text}\n---\nIt is Tuesday\n")
        assert found.values == {}
        assert "aliases say too much" in found.error
    assert read_properties("---\na: &a [x, y]\nb: *a\n---\n").values == {"a": ["x", "y"], "b": ["x", "y"]}
