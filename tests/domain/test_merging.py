"""Two changes of one text put together, by properties and by example."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolmen.domain.note.merging import MOST, combine, merge

PARTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n\n", "d", "e\n"]), max_size=7)


@given(PARTS, PARTS)
def test_a_change_and_no_change_give_the_change(base: list[str], changed: list[str]) -> None:
    for mine, theirs in ((changed, base), (base, changed), (changed, changed)):
        merged = merge(base, mine, theirs)
        assert merged is not None
        assert [part.rstrip() for part in merged] == [part.rstrip() for part in changed]


@given(PARTS, PARTS, PARTS)
def test_it_does_not_matter_whose_change_is_whose(base: list[str], one: list[str], other: list[str]) -> None:
    assert merge(base, one, other) == merge(base, other, one)


@pytest.mark.parametrize(
    ("mine", "theirs", "merged"),
    [
        ("AbC d", "abC D", "AbC D"),
        ("Abc", "abc d", "Abc d"),
        ("bc", "abC", "bC"),
        ("Abc", "Xbc", None),
        ("abc d", "abc e", None),
        ("abxc", "abyc", None),
        ("ac", "aBc", None),
    ],
    ids=["apart", "an append", "a removal", "the same part", "two appends", "one place", "removed and changed"],
)
def test_changes_of_different_parts_meet_and_of_the_same_part_do_not(
    mine: str, theirs: str, merged: str | None
) -> None:
    base = "abc" if "C d" not in mine else "abC d"
    assert merge(list(base), list(mine), list(theirs)) == (None if merged is None else tuple(merged))


def test_what_is_too_long_to_compare_is_not_merged() -> None:
    long = [str(n) for n in range(MOST + 1)]
    assert merge(long, long, long) is None
    assert combine(long, [*long, "mine"], [*long, "theirs"]).parts == (*long, "mine")


def test_where_both_touch_the_same_part_mine_stays_and_every_other_change_is_there() -> None:
    for theirs, whole in (("aYcD", "aXcD"), ("aYZD", "aXZD")):
        both = combine(list("abcd"), list("aXcd"), list(theirs))
        assert both.clash
        assert both.parts == tuple(whole)


@given(PARTS, PARTS, PARTS)
def test_nothing_of_mine_is_lost_where_both_clash(base: list[str], mine: list[str], theirs: list[str]) -> None:
    both = combine(base, mine, theirs)
    new = {part.rstrip() for part in mine} - {part.rstrip() for part in base}
    assert new <= {part.rstrip() for part in both.parts}
