"""JSON that is edited in place: what was there stays, and what was added is removed without a trace."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolmen.client.editing import jsonc

SERVER = {"url": "http://127.0.0.1:7077/mcp"}
PATH = ("mcpServers", "dolmen")

COMMENTED = """\
{
  // the other server
  "mcpServers": {
    "other": { "command": "x", "args": ["a", "b"] }, // keep me
    /* and me */
  },
  "theme": "dark" /* last */
}
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "mcpServers": {\n    "dolmen": {\n      "url": "http://127.0.0.1:7077/mcp"\n    }\n  }\n}\n'),
        ('{"a": 1}', '{"a": 1, "mcpServers": {"dolmen": {"url": "http://127.0.0.1:7077/mcp"}}}'),
        (
            '{\n    "a": 1\n}\n',
            '{\n    "a": 1,\n    "mcpServers": {\n        "dolmen": {\n            '
            '"url": "http://127.0.0.1:7077/mcp"\n        }\n    }\n}\n',
        ),
        (
            '{\n\t"mcpServers": {\n\t\t"x": {}\n\t}\n}',
            '{\n\t"mcpServers": {\n\t\t"x": {},\n\t\t"dolmen": {\n\t\t\t"url": "http://127.0.0.1:7077/mcp"\n\t\t}\n\t}\n}',
        ),
        (
            COMMENTED,
            COMMENTED.replace(
                "    /* and me */\n",
                '    /* and me */\n    "dolmen": {\n      "url": "http://127.0.0.1:7077/mcp"\n    },\n',
            ),
        ),
        (
            '{\r\n  "a": [1,\r\n 2]\r\n}\r\n',
            '{\r\n  "a": [1,\r\n 2],\r\n  "mcpServers": {\r\n    "dolmen": {\r\n      '
            '"url": "http://127.0.0.1:7077/mcp"\r\n    }\r\n  }\r\n}\r\n',
        ),
    ],
    ids=["empty", "one line", "four spaces", "tabs", "comments and trailing commas", "Windows line ends"],
)
def test_a_value_is_added_in_the_files_own_style_and_removed_again(before: str, after: str) -> None:
    assert jsonc.put(before, PATH, SERVER) == after
    assert jsonc.put(after, PATH, SERVER) == after, "and a second time changes nothing"
    assert jsonc.drop(after, PATH) == (before or "{}\n")


def test_a_value_that_is_there_is_replaced_in_its_place() -> None:
    before = '{\n  "mcpServers": {\n    "dolmen": {"url": "old"}, // ours\n    "x": 1\n  }\n}\n'
    after = jsonc.put(before, PATH, SERVER)
    assert after == before.replace('{"url": "old"}', '{"url": "http://127.0.0.1:7077/mcp"}')
    assert jsonc.read(jsonc.drop(after, PATH)) == {"mcpServers": {"x": 1}}


@pytest.mark.parametrize(
    "text",
    ["{", '{"a": 1,, }', '{"a" 1}', '{"a": tru}', "{} x", '{"a": "\n"}', "{a: 1}", "[1 2]", '{"a": 01}', "[" * 100_000],
    ids=lambda text: text[:12],
)
def test_what_is_no_json_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(jsonc.Malformed, match=r"line \d+, column \d+|nested"):
        jsonc.put(text, PATH, SERVER)


def test_what_is_no_object_on_the_way_is_refused() -> None:
    for text in ("[]", '{"mcpServers": []}', '{"mcpServers": null}', "7"):
        with pytest.raises(jsonc.Malformed, match="no object"):
            jsonc.put(text, PATH, SERVER)


def test_elements_are_appended_and_pruned() -> None:
    path = ("hooks", "Stop")
    before = '{\n  "hooks": {\n    "Stop": [\n      {"command": "mine"} // first\n    ]\n  }\n}\n'
    after = jsonc.append(before, path, {"command": "dolmen"})
    assert jsonc.read(after)["hooks"]["Stop"] == [{"command": "mine"}, {"command": "dolmen"}]
    assert jsonc.prune(after, path, lambda item: item["command"] == "dolmen") == before
    assert jsonc.prune(before, path, lambda item: True) == "{}\n"
    made = jsonc.append("{}", path, {"command": "dolmen"})
    assert jsonc.prune(made, path, lambda item: True) == "{}"
    with pytest.raises(jsonc.Malformed, match="no list"):
        jsonc.append('{"hooks": {"Stop": {}}}', path, 1)


keys = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=6).filter(
    lambda key: key not in ("mcpServers", "dolmen")
)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


@given(
    top=st.dictionaries(keys, values, max_size=4),
    servers=st.none() | st.dictionaries(keys, values, min_size=1, max_size=3),
    indent=st.sampled_from([None, 1, 2, 4, "\t"]),
    first=st.booleans(),
)
def test_whatever_else_stands_there_survives(top: dict[str, Any], servers: Any, indent: Any, first: bool) -> None:
    document = dict(top)
    if servers is not None:
        document = {"mcpServers": servers, **top} if first else {**top, "mcpServers": servers}
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    after = jsonc.put(text, PATH, SERVER)
    assert json.loads(after) == {**document, "mcpServers": {**(servers or {}), "dolmen": SERVER}}
    assert jsonc.drop(after, PATH) == text
