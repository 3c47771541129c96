"""The root of the command line: every command, in the order in which `dolmen --help` lists them."""

from __future__ import annotations

import click

from dolmen import __version__
from dolmen.interfaces.cli.lazy import Entry, LazyGroup

_SERVE, _MEMORY, _VAULT, _STORE, _HELP = "Serve agents", "Memories", "Who and where", "The store", "Help"

COMMANDS = {
    "serve": Entry("serve:serve", _SERVE, "Serve agents over HTTP, and say how to connect them."),
    "mcp": Entry("mcp:mcp", _SERVE, "Serve one agent over standard input and output."),
    "install": Entry("install:install", _SERVE, "Set clients up: the MCP server and session hooks."),
    "uninstall": Entry("install:uninstall", _SERVE, "Take out of clients what `dolmen install` wrote."),
    "hook": Entry("hook:hook", _SERVE, "Give an agent's session its context and keep what it was about."),
    "login": Entry("login:login", _SERVE, "Sign in to a server, on any machine."),
    "logout": Entry("login:logout", _SERVE, "Sign out of a server; without a URL, of the latest."),
    "memory": Entry("memory:memory", _MEMORY, "Find, show, add, change and remove memories."),
    "note": Entry("note:note", _MEMORY, "Read, write and move notes, and folders of Markdown files."),
    "mirror": Entry("mirror:mirror", _MEMORY, "Keep a folder of Markdown files and the notes in step."),
    "brief": Entry("brief:brief", _MEMORY, "Print the conventions that agents are given before they begin."),
    "refs": Entry("refs:refs", _MEMORY, "Keep memory true to the code: check what memories refer to."),
    "review": Entry("review:review", _MEMORY, "Decide about what agents proposed."),
    "extract": Entry("extract:extract", _MEMORY, "Look for memories in session summaries, with the chat model."),
    "consolidate": Entry(
        "consolidate:consolidate", _MEMORY, "Find memories that say the same or contradict each other."
    ),
    "demo": Entry("demo:demo", _MEMORY, "Load a small example memory and recall from it."),
    "key": Entry("key:key", _VAULT, "Make, list, limit and revoke the keys of agents."),
    "person": Entry("person:person", _VAULT, "Invite, list and remove the people who sign in on the web."),
    "vault": Entry("vault:vault", _VAULT, "List, make, rename and remove vaults."),
    "group": Entry("group:group", _VAULT, "Make, list and remove groups of keys that are kept apart."),
    "project": Entry("project:project", _VAULT, "List projects, name this one, join a renamed one."),
    "export": Entry("transfer:export_", _STORE, "Write everything that was remembered to a file."),
    "import": Entry("transfer:import_", _STORE, "Read in what `dolmen export` or `kenfold export` wrote."),
    "reindex": Entry("upkeep:reindex", _STORE, "Make the search index and the vectors again."),
    "migrate": Entry("upkeep:migrate", _STORE, "Bring the store up to date, where `auto_migrate` is off."),
    "eval": Entry("evaluation:eval_", _STORE, "Measure how well recall works on your own memory."),
    "stats": Entry("upkeep:stats", _STORE, "Count memories, vectors, duplicates and noise."),
    "doctor": Entry("doctor:doctor", _STORE, "Find what is wrong, say why and what to do."),
    "settings": Entry("settings:settings", _HELP, "Show every setting, its value and where it comes from."),
    "completion": Entry("completion:completion", _HELP, "Print the completion script of a shell."),
}

_EPILOG = "`dolmen COMMAND --help` tells more. Settings come from flags, DOLMEN_* variables and a file, in this order."


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="dolmen", message="%(prog)s %(version)s")
def cli() -> None:
    """One memory for all the AI agents that you work with."""


def main() -> None:
    """The `dolmen` program."""
    cli.main(prog_name="dolmen")
