"""The lines that people copy: the same in the program and in the documents, and true to the servers that they name."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from dolmen.interfaces.clients import DEFAULT_URL, KEY_SHOWN, PLACES, Recipe, recipes, stdio_recipes
from tests.interfaces.conftest import Serve

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "how-to" / "clients.md").read_text(encoding="utf-8")
SHOWN = (*recipes(), *recipes("https://memory.example.com/mcp", with_key=True), *stdio_recipes())
NAMES = {"Claude Code", "Codex", "Cursor", "VS Code", "Gemini CLI"}


def identity(recipe: Recipe) -> str:
    return f"{recipe.client} {recipe.transport} {KEY_SHOWN in recipe.text}"


@pytest.mark.parametrize("recipe", SHOWN, ids=identity)
def test_the_page_has_the_lines_of_the_program(recipe: Recipe) -> None:
    assert recipe.text in PAGE
    assert recipe.file in PAGE


def test_every_client_has_a_line_for_each_way() -> None:
    assert {recipe.client for recipe in recipes()} == {*NAMES, "any other client"}
    assert {recipe.client for recipe in stdio_recipes()} == NAMES
    assert {place.client for place in PLACES} >= NAMES, "`install` knows more of them"


@pytest.mark.parametrize("recipe", SHOWN, ids=identity)
def test_files_are_json_and_commands_are_whole(recipe: Recipe) -> None:
    if not recipe.is_command:
        json.loads(recipe.text)
    for line in recipe.text.replace("\\\n", "").splitlines() if recipe.is_command else ():
        assert shlex.split(line)


def test_the_default_address_is_the_default_of_the_settings() -> None:
    from dolmen.settings import Settings

    settings = Settings()
    assert f"http://{settings.host}:{settings.port}/mcp" == DEFAULT_URL


@pytest.mark.parametrize("with_key", [False, True])
def test_the_line_for_any_other_client_lists_the_tools(serve: Serve, with_key: bool) -> None:
    served = serve(auth="keys" if with_key else "none")
    [recipe] = [one for one in recipes(served.url, with_key=with_key) if one.client == "any other client"]
    line = recipe.text.replace(KEY_SHOWN, served.key())
    words = shlex.split(line.replace("\\\n", ""))
    assert words[:2] == ["curl", served.url]
    given = list(zip(words[2::2], words[3::2], strict=True))
    headers = dict(value.split(": ", 1) for option, value in given if option == "-H")
    [data] = [value for option, value in given if option == "-d"]
    answer = served.http.post(served.url, content=data, headers=headers)
    assert len(answer.json()["result"]["tools"]) == 13
