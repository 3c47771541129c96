"""What callers meant: coded in too many layers, half typed, or simply wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.mcp.arguments import understand
from dolmen.interfaces.mcp.registry import Tool, faces

CORE = faces()["core"].by_name


def tool(name: str) -> Tool:
    return CORE[name]


def read(name: str, **given: Any) -> dict[str, Any]:
    return understand(tool(name), given)[0]


def noted(name: str, **given: Any) -> list[str]:
    return understand(tool(name), given)[1]


def refused(name: str, **given: Any) -> DolmenError:
    with pytest.raises(DolmenError) as caught:
        understand(tool(name), given)
    assert caught.value.code == "invalid-argument"
    assert caught.value.fix
    return caught.value


def test_plain_arguments_pass_as_they_are() -> None:
    args, notes = understand(tool("recall"), {"query": "deploy", "tags": ["a", "b"], "limit": 5})
    assert args == {"query": "deploy", "tags": ["a", "b"], "limit": 5}
    assert notes == []


@pytest.mark.parametrize(
    ("sent", "meant"), [(["a", "b"], ["a", "b"]), ('["a","b"]', ["a", "b"]), (' ["a", "b"] ', ["a", "b"])]
)
def test_a_list_may_come_as_a_json_string(sent: Any, meant: list[str]) -> None:
    """B091: and nothing needs to be said about it."""
    args, notes = understand(tool("recall"), {"query": "q", "tags": sent})
    assert args["tags"] == meant
    assert notes == []


@pytest.mark.parametrize(("sent", "meant"), [("a,b", ["a", "b"]), ("a, b ,", ["a", "b"]), ("a", ["a"]), ("", [])])
def test_a_list_of_words_may_come_between_commas(sent: str, meant: list[str]) -> None:
    """B091."""
    assert read("recall", query="q", tags=sent)["tags"] == meant


def test_what_was_understood_is_said() -> None:
    """B091."""
    assert noted("recall", query="q", tags="a,b") == ['tags was understood as ["a", "b"].']


def test_a_sentence_with_a_comma_stays_one_item_of_a_list_of_sentences() -> None:
    assert read("reflect", summary="s", decisions="Use X, not Y")["decisions"] == ["Use X, not Y"]
    assert read("handoff", summary="s", next_steps="First, look")["next_steps"] == ["First, look"]


def test_null_means_absent() -> None:
    """B091."""
    args, notes = understand(tool("recall"), {"query": "q", "tags": None, "project": None})
    assert args == {"query": "q"}
    assert notes == []


def test_null_inside_a_memory_means_absent_too() -> None:
    args = read("remember", memories=[{"content": "x", "title": None, "case": None}])
    assert args["memories"] == [{"content": "x"}]


def test_the_whole_argument_object_may_come_as_a_string_under_one_key() -> None:
    """B093."""
    inner = {"query": "likes tea", "limit": 3}
    args, notes = understand(tool("recall"), {"param": json.dumps(inner)})
    assert args == inner
    assert notes == ["The arguments were read from inside 'param'."]
    assert read("recall", arguments=inner) == inner


def test_a_known_argument_that_holds_json_is_not_unwrapped() -> None:
    text = '{"query": "not me"}'
    assert read("recall", query=text) == {"query": text}


def test_numbers_and_booleans_may_come_as_text() -> None:
    args = read("recall", query="q", limit="10", budget_tokens="4000.0")
    assert args["limit"] == 10
    assert args["budget_tokens"] == 4000
    assert isinstance(args["budget_tokens"], int)
    assert read("link", **{"from": "a", "rel_type": "r", "to": "b", "weight": "0.5"})["weight"] == 0.5
    assert read("browse", queued="true") == {"queued": True}
    assert noted("browse", queued="true") == []
    assert noted("browse", queued="Yes") == ["queued was understood as true."]
    assert read("browse", queued=0) == {"queued": False}


def test_a_word_of_a_closed_set_may_come_in_capitals() -> None:
    assert read("verify", refs=["a"], state="VERIFIED")["state"] == "verified"
    assert noted("verify", refs=["a"], state="VERIFIED") == ["state was understood as 'verified'."]


def test_one_memory_may_come_without_its_list() -> None:
    args, notes = understand(tool("remember"), {"memories": {"content": "x"}})
    assert args["memories"] == [{"content": "x"}]
    assert notes == ["memories was understood as a list of one."]
    assert read("remember", memories='[{"content": "x"}]')["memories"] == [{"content": "x"}]


def test_an_unknown_argument_is_refused_with_the_known_ones() -> None:
    """B132."""
    error = refused("recall", query="q", projekt="x")
    assert "'projekt'" in error.message
    assert "Did you mean project?" in error.message
    assert all(name in error.fix for name in ("query", "project", "budget_tokens"))


def test_a_missing_argument_is_named_with_what_it_takes() -> None:
    error = refused("recall")
    assert error.message == "query is missing."
    assert error.fix == "Pass query: text."


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("recall", {"query": 7}, "query must be text; it was 7."),
        ("recall", {"query": "q", "limit": "many"}, 'limit must be a whole number; it was "many".'),
        ("recall", {"query": "q", "limit": 1.5}, "limit must be a whole number; it was 1.5."),
        ("recall", {"query": "q", "tags": {"a": 1}}, "tags must be a list of text; it was an object."),
        ("recall", {"query": "q", "tags": [1]}, "tags[0] must be text; it was 1."),
        ("verify", {"refs": ["a"], "state": "fine"}, "state must be one of verified, accepted, unverified, stale, "),
        ("edit", {"ref": "a", "op": "amend", "fields": "x"}, 'fields must be an object; it was "x".'),
        ("browse", {"queued": "maybe"}, 'queued must be true or false; it was "maybe".'),
        ("remember", {"memories": "text"}, 'memories must be a list of objects with content; it was "text".'),
    ],
)
def test_a_wrong_argument_is_told_what_was_expected_and_what_came(name: str, given: Any, message: str) -> None:
    error = refused(name, **given)
    assert error.message.startswith(message)


def test_a_wrong_memory_fails_alone() -> None:
    """B132: also for its unknown fields."""
    args = read(
        "remember", memories=[{"content": "x"}, {"text": "y"}, {"content": "z", "kind": "idea"}, {"title": "t"}, "s"]
    )
    good, unknown, kind, missing, no_object = args["memories"]
    assert good == {"content": "x"}
    assert "'text' in memories[1]" in unknown.message
    assert kind.message.startswith("memories[2].kind must be one of fact, decision")
    assert missing.message == "memories[3].content is missing."
    assert no_object.message == 'memories[4] must be an object; it was "s".'


def test_a_long_value_is_not_repeated_whole() -> None:
    error = refused("verify", refs=["a"], state="x" * 10_000)
    assert len(error.message) < 300


HALF = "\\ud83d"
"""How JSON writes half of a surrogate pair."""


def test_half_a_character_inside_an_encoded_argument_is_understood_too() -> None:
    assert read("verify", refs=f'["{HALF}"]', state="verified")["refs"] == ["\ufffd"]
    assert read("edit", ref="a", op="amend", fields=f'{{"title": "x{HALF}"}}')["fields"] == {"title": "x\ufffd"}
    [item] = read("remember", memories=[{"content": "x", "supersedes": f'["{HALF}"]'}])["memories"]
    assert item["supersedes"] == ["\ufffd"]
    assert read("recall", param=f'{{"query": "tea {HALF}"}}')["query"] == "tea \ufffd"


def test_half_a_character_in_an_unknown_name_can_be_told() -> None:
    for sent in ({"query": "q", "\ud83d": 1}, {"param": f'{{"query": "q", "{HALF}": 1}}'}):
        assert "\ufffd" in refused("recall", **sent).message


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan"), "1e999", "NaN", "-Infinity", 10**400])
@pytest.mark.parametrize(
    ("name", "argument", "given"),
    [
        ("recall", "limit", {"query": "q"}),
        ("link", "weight", {"from": "a", "rel_type": "r", "to": "b"}),
    ],
)
def test_a_number_that_nothing_can_reckon_with_is_refused_by_name(
    name: str, argument: str, given: dict[str, Any], number: Any
) -> None:
    assert refused(name, **given, **{argument: number}).message.startswith(f"{argument} must be a")


def test_such_a_number_in_one_memory_leaves_the_others_alone() -> None:
    good, bad, coded = read(
        "remember",
        memories=[
            {"content": "x"},
            {"content": "y", "importance": float("inf")},
            {"content": "z", "links": '[{"to": "a", "weight": 1e999}]'},
        ],
    )["memories"]
    assert good == {"content": "x"}
    assert bad.message.startswith("memories[1].importance must be a finite number")
    assert coded.message.startswith("memories[2].links[0].weight must be a finite number")


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_endless_nesting_is_refused_by_name(opening: str) -> None:
    for argument in ("limit", "tags"):
        read_or_refused = {"query": "q", argument: opening * 100_000}
        if argument == "limit":
            assert refused("recall", **read_or_refused).message.startswith("limit must be a whole number")
        else:
            assert all(isinstance(tag, str) for tag in read("recall", **read_or_refused)["tags"])
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    assert refused("recall", query="q", tags=deep).message.startswith("tags is nested more than 64 levels")
    good, bad = read("remember", memories=[{"content": "x"}, {"content": "y", "tags": deep}])["memories"]
    assert good == {"content": "x"}
    assert bad.message.startswith("memories[1] is nested")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(
    name=st.sampled_from(sorted(CORE)),
    data=st.data(),
)
def test_whatever_comes_is_understood_or_refused(name: str, data: st.DataObject) -> None:
    """No value of any JSON type reaches a handler in another shape than its schema says, or raises anything else."""
    names = st.sampled_from(sorted(CORE[name].schema["properties"])) | st.text(max_size=6)
    sent = data.draw(st.dictionaries(names, json_values, max_size=4))
    try:
        args, _ = understand(CORE[name], sent)
    except DolmenError as error:
        refusal = error.as_dict()
    else:
        assert set(args) <= set(CORE[name].schema["properties"])
        return
    assert refusal["code"] == "invalid-argument"
    assert refusal["message"]
    assert refusal["fix"]
