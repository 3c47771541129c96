"""Every command line in the documents is one that the program understands."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from tests.docs.markdown import ROOT, command_lines, name, pages

README = ROOT / "README.md"


def root() -> click.Command:
    from dolmen.interfaces.cli.main import cli

    return cli


def mistake(words: list[str]) -> str | None:
    """What is wrong with the words after `dolmen`, by the declared commands, options and arguments; runs nothing."""
    command, context = root(), click.Context(root(), info_name="dolmen", **root().context_settings)
    positional = 0
    rest = iter(words)
    for word in rest:
        if word.startswith("-") and word != "-":
            flag, _, value = word.partition("=")
            option = next(
                (each for each in command.get_params(context) if flag in (*each.opts, *each.secondary_opts)), None
            )
            if option is None:
                return f"{context.command_path} has no option {flag}"
            if isinstance(option, click.Option) and not (option.is_flag or option.count or value):
                next(rest, None)
        elif isinstance(command, click.Group):
            found = command.get_command(context, word)
            if found is None:
                # `dolmen memory …` in prose speaks of the group
                return None if word in ("…", "...") else f"{context.command_path} has no command {word}"
            command, context = found, click.Context(found, parent=context, info_name=word)
        else:
            positional += 1
    arguments = [each for each in command.get_params(context) if isinstance(each, click.Argument)]
    if all(each.nargs > 0 for each in arguments) and positional > sum(each.nargs for each in arguments):
        return f"{context.command_path} takes fewer arguments than {words}"
    return None


@pytest.mark.parametrize("page", pages(), ids=name)
def test_every_command_line_of_the_page_is_understood(page: Path) -> None:
    wrong = [found for words in command_lines(page.read_text(), "dolmen") if (found := mistake(words))]
    assert wrong == []


def test_a_wrong_command_line_would_be_found() -> None:
    assert mistake(["serve", "--no-such-option"]) == "dolmen serve has no option --no-such-option"
    assert mistake(["no-such-command"]) == "dolmen has no command no-such-command"
    assert mistake(["serve"]) is None


def test_every_command_explains_itself() -> None:
    todo = [(root(), click.Context(root(), info_name="dolmen", **root().context_settings))]
    unexplained = []
    while todo:
        command, context = todo.pop()
        if not command.get_short_help_str():
            unexplained.append(context.command_path)
        if isinstance(command, click.Group):
            for each in command.list_commands(context):
                found = command.get_command(context, each)
                assert found is not None
                todo.append((found, click.Context(found, parent=context, info_name=each)))
    assert unexplained == []


@pytest.mark.parametrize("command", ["scripts/serve", "scripts/test"])
def test_the_readme_names_the_two_commands_and_they_exist(command: str) -> None:
    assert command in README.read_text()
    assert (ROOT / command).is_file()
