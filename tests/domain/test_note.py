"""Addresses, block ids and line forms of notes."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolmen.domain.errors import DolmenError
from dolmen.domain.note import (
    Address,
    Block,
    address,
    checked_permalink,
    content_sha,
    derived,
    exchanged,
    identify,
    kind_of,
    mark,
    match,
    parse_ref,
    read_item,
    read_text,
    slug,
    states_something,
    tag_list,
    target_name,
    title_from,
)


# ------------------------------------------------------------------------------------------------------------ addresses
def test_titles_in_any_script_get_readable_and_different_addresses() -> None:
    """B044"""
    titles = [
        "บันทึกการประชุม",
        "สรุป release งาน",
        "🤔",
        "정리 노트",
        "🤔🤔",
        "Información – método",
        "日本語のメモ",
        "d'Artagnan",
    ]
    slugs = [slug(title) for title in titles]
    assert slugs[0] == "บันทึกการประชุม"
    assert slugs[1] == "สรุป-release-งาน"
    assert slugs[3] == "정리-노트"
    assert slugs[5:] == ["información-método", "日本語のメモ", "dartagnan"]
    assert slugs[2].startswith("note-")
    assert len(set(slugs)) == len(slugs)


@given(st.text(max_size=300))
def test_an_address_is_stable_short_and_a_file_name(title: str) -> None:
    name = slug(title)
    assert name == slug(name) or name.startswith("note-")
    assert 0 < len(name.encode("utf-8", "surrogatepass")) <= 180
    assert not set('/\\#?|[]<>:"* \n') & set(name)
    assert name == unicodedata.normalize("NFC", name)


def test_a_long_title_is_cut_between_words_and_never_inside_of_a_character() -> None:
    assert slug("word " * 100).endswith("-word")
    assert len(slug("가" * 200)) == 60
    thai = slug("กำ" * 100)
    assert unicodedata.category(thai[-1])[0] in "LM"


def test_a_taken_address_gets_a_number() -> None:
    """C-97"""
    assert derived("Deploy freeze") == "deploy-freeze"
    assert derived("Deploy freeze", "backend", 2) == "backend/deploy-freeze-2"


@pytest.mark.parametrize(
    "ref",
    [
        "backend/auth-decision",
        "dolmen://backend/auth-decision",
        "kmem://backend/auth-decision",
        "sp://backend/auth-decision",
        " backend/auth-decision.md ",
    ],
)
def test_every_spelling_of_a_ref_names_the_same_note(ref: str) -> None:
    """C-233"""
    assert parse_ref(ref) == Address("backend/auth-decision")
    assert str(parse_ref(ref)) == "dolmen://backend/auth-decision"


def test_a_ref_may_name_a_block_and_a_memory_is_no_note() -> None:
    """C-233"""
    assert parse_ref("kmem://a/b#blk_8bcbdac3") == Address("a/b", "blk_8bcbdac3")
    assert parse_ref("a/b#blk_8bcbdac3-2") == Address("a/b", "blk_8bcbdac3-2")
    assert address("a/b", "blk_8bcbdac3") == "dolmen://a/b#blk_8bcbdac3"
    assert parse_ref("0199a5b0-0000-7000-8000-000000000000") is None
    assert parse_ref("dolmen://memory/0199a5b0-0000-7000-8000-000000000000") is None
    assert parse_ref("dolmen://memory/herons") == Address("memory/herons"), "a folder of that name"


@pytest.mark.parametrize(
    "bad", ["", "/", "../x", "a//b", "a/./b", "a#b", "a|b", "[[x]]", "a\nb", "memory/x", "x" * 301]
)
def test_what_cannot_be_an_address_is_refused(bad: str) -> None:
    """C-98"""
    with pytest.raises(DolmenError) as refused:
        checked_permalink(bad)
    assert refused.value.fix


def test_a_title_is_the_first_line_cut_on_a_word_boundary() -> None:
    """C-97"""
    assert title_from("# Deploy freeze ##") == "Deploy freeze"
    assert title_from("- [decision] We chose cookies") == "We chose cookies"
    long = title_from(
        "We chose session cookies over JSON web tokens because revocation is simpler and nobody minds the cost"
    )
    assert long == "We chose session cookies over JSON web tokens because revocation is simpler and"


# ----------------------------------------------------------------------------------------------------------- line forms
def test_an_observation_has_a_kind_and_tags() -> None:
    """C-238"""
    line = read_item("- [note] Keys rotate monthly #ops #보안/키")
    assert (line.text, line.label, line.tags) == ("Keys rotate monthly #ops #보안/키", "note", ("ops", "보안/키"))
    assert read_item("* [결정] 세션 쿠키를 쓴다").label == "결정"


@pytest.mark.parametrize(
    "text",
    [
        "- [Ruff](https://x) checks style",
        "- [[Ruff]] checks style",
        "- [x] done",
        "- [ ] open",
        "- [^1]: foot",
        "- [a]b",
    ],
)
def test_a_link_or_a_task_is_no_observation(text: str) -> None:
    """B141"""
    assert read_item(text).label == ""


def test_a_relation_line_is_a_link() -> None:
    """C-246"""
    line = read_item("- depends_on [[backend/session-store|the store]] for its keys, see [[Other#Rules]]")
    assert line.relation
    assert line.label == "relation"
    assert line.links == (("depends_on", "backend/session-store"), ("links_to", "Other"))


def test_a_wiki_link_in_a_sentence_links_too_but_not_in_code() -> None:
    assert read_text("See [[Auth]] and ![[picture.png]].").links == (("links_to", "Auth"), ("links_to", "picture.png"))
    assert read_text("Write `[[Auth]]` or ``a ` [[b]]``, not ` [[c]]").links == (("links_to", "c"),)
    assert target_name("dolmen://a/b#blk_8bcbdac3|x") == "a/b#blk_8bcbdac3"


def test_numbers_and_addresses_are_no_tags() -> None:
    assert read_text("Fixed #123 at https://x.org/#part, see [a](#b) #real-one, `#code`").tags == ("real-one",)


def test_tags_are_read_from_lists_and_words() -> None:
    """B140"""
    assert tag_list(["#release", "ops"]) == ("release", "ops")
    assert tag_list("release, #ops") == ("release", "ops")
    assert tag_list(None) == ()


def test_a_written_kind_maps_to_one_of_ours() -> None:
    assert kind_of("Decision", "fact") == "decision"
    assert kind_of("note", "decision") == "fact"
    assert kind_of("person", "decision") == "decision"


# --------------------------------------------------------------------------------------------------------------- blocks
def block(text: str, type: str = "paragraph") -> Block:
    return Block(type, 0, len(text), text)  # type: ignore[arg-type]  # one of the types


def test_an_id_comes_from_the_words_alone() -> None:
    """C-234"""
    assert mark(block("two  words\nhere ")) == mark(block("two words here"))
    assert mark(block("1. step", "item")) == mark(block("2. step", "item"))
    assert mark(block(unicodedata.normalize("NFD", "método"))) == mark(block("método"))
    assert mark(block("```\na  b\n```", "code")) != mark(block("```\na b\n```", "code"))


def test_what_is_said_twice_gets_a_number_and_what_was_kept_stays() -> None:
    """C-234"""
    assert identify(["aaaaaaaa", "aaaaaaaa", "bbbbbbbb"]) == ("blk_aaaaaaaa", "blk_aaaaaaaa-2", "blk_bbbbbbbb")
    assert identify(["aaaaaaaa", "aaaaaaaa"], [None, "blk_aaaaaaaa"]) == ("blk_aaaaaaaa-2", "blk_aaaaaaaa")


def test_headings_rules_and_comments_state_nothing() -> None:
    assert not states_something(block("# Title", "heading"))
    assert not states_something(block("<!-- hidden -->", "html"))
    assert not states_something(block("-", "item"))
    assert states_something(block("<b>x</b>", "html"))
    assert states_something(block("- x", "item"))


def test_a_moved_block_is_the_same_and_a_reworded_one_is_changed() -> None:
    old = [block("One stays where it is."), block("Keys rotate every month."), block("Last.")]
    new = [block("Last."), block("One stays where it is."), block("Keys rotate every week.")]
    found = match(old, new)
    assert set(found.same) == {(0, 1), (2, 0)}
    assert found.changed == ((1, 2),)
    assert exchanged(3, range(1, 2), range(1, 3)).same == ((0, 0), (2, 3))
    assert exchanged(3, range(1, 2), range(1, 3)).changed == ((1, 1),)


def test_the_sha_has_all_its_digits() -> None:
    """C-236"""
    assert content_sha("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
