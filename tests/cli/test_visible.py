"""What somebody else wrote never reaches a terminal as an order to it."""

from __future__ import annotations

import json
import re

import pytest

from dolmen.app import open_app
from dolmen.interfaces.cli.visible import for_json, for_terminal
from dolmen.services.accounts import local_actor
from dolmen.services.edit import edit
from dolmen.services.remember import remember
from dolmen.services.requests import Edit, NewMemory
from dolmen.settings import Settings
from tests.cli.test_start import start
from tests.cli.test_terminal import Terminal

pytestmark = pytest.mark.slow

HOSTILE = (
    "Deploy on Tuesday.\x1b[8m hidden \x1b[0m\x1b[33m\x1b]0;owned\x07\x1b]52;c;cm0gLXJm\x07 "
    "\x9b2J\x7f\rover\u202eesrever\u2066x\u2069\u200f\x0b+ forged\x85- line"
)
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_OUR_COLOUR = re.compile("\x1b\\[(0|1|2|3[1-6])m")


@pytest.fixture
def ref(sqlite_url: str) -> str:
    """The memory of an agent that means no good, and a proposal of it."""
    with open_app(Settings(database=sqlite_url, embedder="none"), models=False) as app:
        actor = local_actor(app.runtime, agent="codex")
        item = NewMemory(HOSTILE, title="a\x1b[2Jb", tags=("t\x1b[5m",), source="s\u202es")
        [stored] = remember(app.runtime, actor, [item])
        edit(
            app.runtime, actor, Edit(ref=stored.ref or "", op="amend", content=HOSTILE + " Or not.", reason="r\x1b[7m")
        )
        remember(app.runtime, local_actor(app.runtime, agent="codex", mode="suggest"), [NewMemory("New. " + HOSTILE)])
    assert stored.ref
    return stored.ref


def proposal(url: str) -> str:
    found: str = json.loads(start(["review", "list", "--json"], url).stdout)["proposals"][0]["id"]
    return found


def commands(ref: str, url: str) -> list[list[str]]:
    return [
        ["memory", "list"],
        ["memory", "show", ref],
        ["memory", "search", "deploy"],
        ["memory", "history", ref],
        ["memory", "show", "no\x1b[31msuch"],
        ["review", "list"],
        ["review", "show", proposal(url)],
    ]


def harmless(text: str) -> None:
    assert _UNSAFE.findall(text) == []
    assert "␛" in text or "\\x1b" in text, "shown, not dropped"


def test_in_a_pipe_it_is_shown(sqlite_url: str, ref: str) -> None:
    for words in commands(ref, sqlite_url):
        done = start(words, sqlite_url)
        harmless(done.stdout.decode() + done.stderr.decode())


def test_on_a_terminal_it_is_shown_and_only_our_own_colours_are_obeyed(sqlite_url: str, ref: str) -> None:
    for words in commands(ref, sqlite_url):
        _, lines = Terminal(words, sqlite_url, 160, NO_COLOR="").ended()
        text = "\n".join(lines)
        assert _OUR_COLOUR.search(text)
        harmless(_OUR_COLOUR.sub("", text))
    _, lines = Terminal(["memory", "show", ref], sqlite_url, 160, NO_COLOR="").ended()
    assert "Tuesday.␛[8m hidden ␛[0m␛[33m␛]0;owned␇" in "\n".join(lines), "not even a colour that is also ours"
    assert "‹U+202E›esrever" in "\n".join(lines)


def test_as_json_it_is_exact_and_escaped(sqlite_url: str, ref: str) -> None:
    for words in (["memory", "show", ref], ["memory", "list"], ["memory", "history", ref]):
        written = start([*words, "--json"], sqlite_url).stdout.decode()
        assert _UNSAFE.findall(written) == []
    shown = json.loads(start(["memory", "show", ref, "--json"], sqlite_url).stdout)["memory"]
    assert shown["text"] == HOSTILE + " Or not."
    assert shown["title"] == "a\x1b[2Jb"


def test_a_name_that_is_no_text_is_shown_instead_of_breaking_the_output() -> None:
    r"""A byte that is no text stands in a file's name as a lone surrogate, which UTF-8 cannot write."""
    assert for_terminal("old\udcff.md") == "old‹U+DCFF›.md"
    said = for_json(json.dumps({"path": "old\udcff.md"}, ensure_ascii=False))
    assert json.loads(said.encode()) == {"path": "old\udcff.md"}
