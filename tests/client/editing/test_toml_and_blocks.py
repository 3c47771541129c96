"""TOML tables and marked blocks that are added, brought up to date and removed, with everything else left alone."""

from __future__ import annotations

import tomllib

import pytest

from dolmen.client.editing import block, toml

PATH = ("mcp_servers", "dolmen")
TABLE = {"url": "http://127.0.0.1:7077/mcp", "http_headers": {"Authorization": "Bearer dlm_x"}}
SAID = '[mcp_servers.dolmen]\nurl = "http://127.0.0.1:7077/mcp"\nhttp_headers = { Authorization = "Bearer dlm_x" }\n'

BUSY = """\
# my settings
model = "o5"   # the good one

[mcp_servers.other]
command = "x"
args = [
  "[mcp_servers.dolmen]",
]

[projects."/home/ada/shop"]
trust_level = "trusted"
"""


@pytest.mark.parametrize(
    "before", ["", BUSY, BUSY.replace("\n", "\r\n"), "a = 1\n# [mcp_servers.dolmen]\n", "a = 1", "# mine", "a = 1\n\n"]
)
def test_a_table_is_added_at_the_end_and_removed_again(before: str) -> None:
    after = toml.put(before, PATH, TABLE)
    assert after.startswith(before)
    assert tomllib.loads(after)["mcp_servers"]["dolmen"] == TABLE
    assert toml.put(after, PATH, TABLE) == after
    assert toml.drop(after, PATH) == before
    assert toml.drop(before, PATH) == before


def test_a_table_that_is_there_is_replaced_with_those_below_it() -> None:
    old = '[mcp_servers."dolmen"]\nurl = "old"\n[mcp_servers.dolmen.env]\nA = "1"\n\n# about z\n[z]\nb = 2\n'
    after = toml.put("a = 1\n" + old, PATH, TABLE)
    assert after == "a = 1\n" + SAID + "\n# about z\n[z]\nb = 2\n"
    assert toml.drop(after, PATH) == "a = 1\n" + "\n# about z\n[z]\nb = 2\n"


@pytest.mark.parametrize(
    "text", ['mcp_servers.dolmen.url = "x"\n', 'mcp_servers = { dolmen = { url = "x" } }\n', "a = \n", "[a\n"]
)
def test_what_cannot_be_changed_safely_is_refused(text: str) -> None:
    for change in (lambda: toml.put(text, PATH, TABLE), lambda: toml.drop(text, PATH)):
        with pytest.raises(toml.Malformed):
            change()


@pytest.mark.parametrize(
    "before",
    ["", "# My rules\n\n- Use tabs.\n", "# My rules\r\n- Use tabs.\r\n", "- Use tabs.", "A\r\n- Use tabs.", "A\n\n"],
)
def test_a_block_is_added_brought_up_to_date_and_removed_exactly(before: str) -> None:
    after = block.put(before, "Use memory.")
    assert after.startswith(before)
    assert "Use memory." in after
    assert block.put(after, "Use memory.") == after
    newer = block.put(after + "More of mine.\n", "Use memory well.")
    assert newer == after.replace("Use memory.", "Use memory well.") + "More of mine.\n"
    assert block.drop(after) == before
    assert block.drop(before) == before


def test_what_nests_without_end_is_malformed() -> None:
    """A project's file may be anybody's."""
    with pytest.raises(toml.Malformed, match="too deeply"):
        toml.put("a = " + "[" * 5_000 + "]" * 5_000, PATH, TABLE)
