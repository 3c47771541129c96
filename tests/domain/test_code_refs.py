"""What a check does to a reference, and when a memory is stale."""

from __future__ import annotations

import pytest

from dolmen.domain.code import (
    Check,
    CodeRef,
    Mark,
    RefState,
    checked,
    mark_of,
    said,
    stale,
    valid_commit,
    views,
    with_mark,
)

PENDING = CodeRef("m", "s", "a.py", "run")
ANCHORED = CodeRef("m", "s", "a.py", "run", 1, "current", "aaaaaaa", "def1:1", "", "aaaaaaa", 1)


def after(ref: CodeRef, **check: object) -> CodeRef | None:
    return checked(ref, Check(ref.path, ref.symbol, **check), "bbbbbbb", 9)  # type: ignore[arg-type]


def test_a_check_without_an_anchor_anchors_what_has_none() -> None:
    """C-231."""
    done = after(PENDING, found=True, hash="def1:1", resolved_path="b.py")
    assert done == CodeRef("m", "s", "a.py", "run", 0, "current", "bbbbbbb", "def1:1", "b.py", "bbbbbbb", 9)
    assert after(ANCHORED, found=True, hash="def1:2") is None


def test_what_is_not_found_when_it_is_to_be_anchored_is_unresolved_and_may_be_anchored_later() -> None:
    """C-226, C-231."""
    lost = after(PENDING, found=False)
    assert lost is not None
    assert (lost.state, lost.anchor_commit, lost.checked_commit) == ("unresolved", "", "bbbbbbb")
    assert not stale(lost)
    found = after(lost, found=True, hash="def1:1")
    assert found is not None
    assert found.state == "current"


@pytest.mark.parametrize(
    ("found", "hash", "state"),
    [(True, "def1:1", "current"), (True, "def1:2", "changed"), (False, "", "missing")],
)
def test_a_check_with_an_anchor_is_compared_with_the_hash_anchored_there(found: bool, hash: str, state: str) -> None:
    """C-231."""
    done = after(ANCHORED, anchor_commit="aaaaaaa", found=found, hash=hash)
    assert done is not None
    assert (done.state, done.anchor_hash, done.anchor_commit) == (state, "def1:1", "aaaaaaa")


def test_a_check_against_another_anchor_says_nothing() -> None:
    assert after(ANCHORED, anchor_commit="ccccccc", found=False) is None
    assert after(PENDING, anchor_commit="aaaaaaa", found=False) is None


def test_hashes_of_two_schemes_are_not_compared() -> None:
    assert after(ANCHORED, anchor_commit="aaaaaaa", found=True, hash="sym:2") is None


def test_hashes_without_a_scheme_are_compared_with_each_other() -> None:
    """C-231: the document names no form for them."""
    bare = after(PENDING, found=True, hash="5d41402abc4b2a76")
    assert bare is not None
    changed = after(bare, anchor_commit=bare.anchor_commit, found=True, hash="7d793037a0760186")
    assert changed is not None
    assert changed.state == "changed"
    assert after(bare, anchor_commit=bare.anchor_commit, found=True, hash="def1:1") is None


def test_what_came_back_is_current_again() -> None:
    gone = after(ANCHORED, anchor_commit="aaaaaaa", found=False)
    assert gone is not None
    back = after(gone, anchor_commit="aaaaaaa", found=True, hash="def1:1")
    assert back is not None
    assert back.state == "current"


@pytest.mark.parametrize(
    ("states", "mark"),
    [
        ([], ""),
        ([("run", "pending"), ("run", "current"), ("", "unresolved")], ""),
        ([("", "changed")], ""),
        ([("", "changed"), ("run", "changed")], "changed"),
        ([("run", "changed"), ("", "missing")], "gone"),
        ([("run", "missing")], "gone"),
    ],
)
def test_a_memory_is_stale_when_something_is_missing_or_a_symbol_changed(
    states: list[tuple[str, RefState]], mark: Mark
) -> None:
    """C-226, B159: a changed file alone is not stale."""
    assert mark_of(CodeRef("m", "s", "a.py", symbol, state=state) for symbol, state in states) == mark


@pytest.mark.parametrize(
    ("ref", "words", "mark"),
    [
        (CodeRef("m", "s", "a.py", "run", state="missing", resolved_path="b.py"), "run in a.py is gone", "gone"),
        (CodeRef("m", "s", "", "run", state="changed", resolved_path="b.py"), "run has changed", "changed"),
        (CodeRef("m", "s", "a.py", "", state="changed"), "", ""),
        (CodeRef("m", "s", "a.py", "", state="current", resolved_path="lib/b.py"), "a.py is now lib/b.py", "moved"),
        (CodeRef("m", "s", "a.py", "", state="changed", resolved_path="lib/b.py"), "a.py is now lib/b.py", "moved"),
        (CodeRef("m", "s", "a.py", "", state="current", resolved_path="lib/a.py"), "", ""),
        (CodeRef("m", "s", "a.py", "run", state="changed", resolved_path="b.py"),
         "run in a.py has changed and is now in b.py", "changed"),
        (CodeRef("m", "s", "", "run", state="current", resolved_path="b.py"), "", ""),
        (CodeRef("m", "s", "a.py", "run", state="pending"), "", ""),
    ],
)  # fmt: skip
def test_what_has_become_of_code_is_said_in_a_few_words(ref: CodeRef, words: str, mark: Mark) -> None:
    """B160: moved is not gone."""
    assert (said(ref), mark_of([ref])) == (words, mark)


def test_a_mark_replaces_the_one_before_and_leaves_the_rest() -> None:
    assert with_mark({"a": 1, "code": "gone"}, "changed") == {"a": 1, "code": "changed"}
    assert with_mark({"a": 1, "code": "gone"}, "") == {"a": 1}


def test_readers_see_no_reference_that_nobody_found_and_the_others_in_the_order_of_mention() -> None:
    """C-232."""
    refs = [
        CodeRef("m", "s", "b.py", "", 1),
        CodeRef("m", "s", "", "x", 2, "unresolved"),
        CodeRef("m", "s", "a.py", ""),
    ]
    assert [(view.path, view.state, view.checked_commit) for view in views(refs)] == [
        ("a.py", "pending", ""),
        ("b.py", "pending", ""),
    ]


def test_a_commit_is_hexadecimal() -> None:
    assert valid_commit("a" * 40)
    assert valid_commit("0123abc")
    assert not any(map(valid_commit, ("", "abc", "HEAD", "g" * 40, "a" * 65, "--all", "abcdef0\n")))
