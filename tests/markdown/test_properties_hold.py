"""What holds for every Markdown text: nothing that is not edited changes a byte or an id (C-101, C-234)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolmen.domain.errors import DolmenError
from dolmen.domain.note import identify, match
from dolmen.markdown import Document, append, parse, prepend, replace_block, set_property
from dolmen.markdown.splicing import Spliced
from tests.markdown.documents import contents, documents

T = TypeVar("T")


def or_refused(change: Callable[[], T]) -> T | None:
    """The answer; None when it was refused, which says what to do instead."""
    try:
        return change()
    except DolmenError as error:
        if error.code != "invalid-argument" or not error.fix:
            raise
        return None


def ids_after(document: Document, spliced: Spliced) -> list[str]:
    """The ids that the blocks of the new version have when each keeps what it had."""
    before = identify(document.marks)
    kept: list[str | None] = [None] * len(spliced.document.blocks)
    for old, new in spliced.matching(len(before)).same:
        kept[new] = before[old]
    return list(identify(spliced.document.marks, kept))


@given(documents())
def test_blocks_and_the_white_space_between_them_are_the_whole_text(source: str) -> None:
    document = parse(source)
    at = document.body
    for block in document.blocks:
        assert source[at : block.start].strip(" \t\r\n") == ""
        assert at <= block.start < block.end <= len(source)
        at = block.end
    assert source[at:].strip(" \t\r\n") == ""
    assert len(set(identify(document.marks))) == len(document.blocks)


@given(documents())
def test_reading_twice_gives_the_same_ids(source: str) -> None:
    assert identify(parse(source).marks) == identify(parse(source).marks)


@given(documents(), st.integers(0, 30), contents)
def test_replacing_a_block_leaves_every_other_byte_and_id(source: str, place: int, content: str) -> None:
    document = parse(source)
    if not document.blocks:
        return
    place %= len(document.blocks)
    block = document.blocks[place]
    spliced = or_refused(lambda: replace_block(document, place, content))
    if spliced is None:
        return
    after = spliced.document.source
    assert after.startswith(source[: block.start])
    rest = source[block.end :].lstrip("\r\n")
    assert after.endswith(rest)
    before, now = identify(document.marks), ids_after(document, spliced)
    assert now[: spliced.added.start] == list(before[:place])
    assert now[spliced.added.stop :] == list(before[place + 1 :])


@given(documents(), contents)
def test_appending_keeps_everything_before_it(source: str, content: str) -> None:
    document = parse(source)
    spliced = or_refused(lambda: append(document, content))
    if spliced is None:
        return
    assert spliced.document.source.startswith(source)
    assert ids_after(document, spliced)[: len(document.blocks)] == list(identify(document.marks))


@given(documents(), contents)
def test_prepending_keeps_front_matter_and_everything_after_it(source: str, content: str) -> None:
    document = parse(source)
    spliced = or_refused(lambda: prepend(document, content))
    if spliced is None:
        return
    after = spliced.document.source
    assert after.startswith(source[: document.body])
    assert after.endswith(source[document.body :])
    assert ids_after(document, spliced)[spliced.added.stop :] == list(identify(document.marks))


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.text(max_size=40),
    st.lists(st.text(max_size=12), max_size=3),
)
keys = st.sampled_from(["title", "tags", "list", "x", "a", "new", "Weird: key", "#k", "제목", "yes"]) | st.text(
    max_size=12
)


@given(documents(), keys, values)
def test_a_property_is_set_without_touching_the_body_or_another_property(source: str, key: str, value: object) -> None:
    after = or_refused(lambda: set_property(source, key, value))
    if after is None:
        return
    before, now = parse(source), parse(after)
    assert after[now.body :] == source[before.body :]
    assert [block.text for block in now.blocks] == [block.text for block in before.blocks]


@given(documents(), documents())
def test_two_versions_are_matched_without_giving_a_block_twice(one: str, other: str) -> None:
    old, new = parse(one), parse(other)
    found = match(old.blocks, new.blocks)
    pairs = (*found.same, *found.changed)
    assert len({a for a, _ in pairs}) == len({c for _, c in pairs}) == len(pairs)
    assert all(old.marks[a] == new.marks[c] for a, c in found.same)
    left = [mark for n, mark in enumerate(old.marks) if n not in {a for a, _ in found.same}]
    come = [mark for n, mark in enumerate(new.marks) if n not in {c for _, c in found.same}]
    assert not set(left) & set(come), "what says the same is the same block, wherever it stands"


@pytest.mark.parametrize("count", [1, 3])
def test_many_likes_get_numbers(count: int) -> None:
    document = parse("Same.\n\n" * count)
    ids = identify(document.marks)
    assert ids[0].count("-") == 0
    assert [id.rpartition("-")[2] for id in ids[1:]] == [str(n + 2) for n in range(count - 1)]
