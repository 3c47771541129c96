"""Writes the reference pages that follow from tables in the code: `python docs/generate.py` (`--check` only compares).

A page is registered in GENERATORS with the function that gives its text. tests/docs holds the committed pages to it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from textwrap import fill
from typing import Any

import click

from dolmen.domain.code import CodeRef
from dolmen.domain.errors import MEANINGS
from dolmen.domain.memory import Case, Link, Memory, Revision
from dolmen.domain.note import Note, NoteRevision
from dolmen.domain.operations import ANYBODY, OPERATIONS, PERSONS, PRESET_FAMILIES
from dolmen.domain.proposal import Proposal
from dolmen.domain.values import PRESETS, SERVED
from dolmen.interfaces.cli.exits import BY_CODE
from dolmen.interfaces.cli.exits import MEANINGS as EXIT_MEANINGS
from dolmen.interfaces.cli.main import cli
from dolmen.interfaces.clients.targets import TARGETS, Target
from dolmen.interfaces.http.responses import STATUS
from dolmen.interfaces.mcp.footprint import stored
from dolmen.interfaces.mcp.registry import Prompt, Tool, faces
from dolmen.interfaces.mcp.toolsets.kenfold.types import KINDS_OF
from dolmen.interfaces.mcp.toolsets.kenfold.views import view
from dolmen.services.transfer import EXCLUDED, FORMAT, VERSION
from dolmen.settings import TABLE, Setting, shown
from dolmen.settings.kenfold import COUNTERPARTS, Counterpart
from dolmen.store.contract import Feedback

DOCS = Path(__file__).resolve().parent
WIDTH = 120
MARK = "<!-- Made by docs/generate.py from the code: change it there. -->"
"""The first line of every generated page."""


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table; bars and line breaks in cells are made harmless."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in row) + " |" for row in lines
    )


# ------------------------------------------------------------------------------------------------------------- settings
def settings() -> str:
    groups = dict.fromkeys(row.group for row in TABLE)
    parts = [
        "# Settings",
        _prose("""
        A flag wins over the environment variable, that over the configuration file, that over the default. The file
        is TOML; `dolmen settings` says where it is looked for and what is in effect. In it, a name may stand in a
        table: `embeddings_url = …` is the same as `url = …` under `[embeddings]`.
        """),
    ]
    for group in groups:
        rows = [_setting(row) for row in TABLE if row.group == group]
        parts += [f"## {group}", table(("variable", "in the file", "default", "what it is"), rows)]
    return "\n\n".join(parts)


def _setting(row: Setting) -> Iterator[str]:
    yield f"`{row.variable}`"
    yield f"`{row.name}`" if row.name != "config" else "-"
    if row.shown_default:
        yield f"`{row.shown_default}`" if "<" in row.shown_default else row.shown_default
    else:
        yield f"`{shown(row, row.default)}`" if row.default else _none(row)
    secret = " Never shown." if row.secret else ""
    choices = "" if not row.choices else f" One of {', '.join(f'`{each}`' for each in row.choices)}."
    yield row.help + choices + secret


def _none(row: Setting) -> str:
    return "`off`" if row.default is False else f"`{row.default}`" if isinstance(row.default, int) else "-"


# --------------------------------------------------------------------------------------------------------- command line
def command_line() -> str:
    parts = [
        "# Command line",
        _prose("""
        Every command but `completion` and `hook`, which answer a shell and a client, takes `--json`, `--database URL`
        and `--config FILE`. With `--json`, standard output holds one JSON value, in which `ref` is a memory's id and
        times are UTC, and standard error one JSON object a line: `{"error": {code, message, fix}}` or `{"warning": …}`.
        Results go to standard output, everything else to standard error. Colours appear on a terminal only, and
        never with `NO_COLOR`. A REF is the id of a memory, or at least four
        characters of its start or end that no other id has; the refs that lists print are the last eight, because ids
        that were made at about the same time begin alike.
        """),
        "## Exit codes",
        table(("code", "meaning"), ([str(code), meaning] for code, meaning in EXIT_MEANINGS.items())),
    ]
    context = click.Context(cli, info_name="dolmen", **cli.context_settings)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        parts += _command(command, click.Context(command, parent=context, info_name=name))
    return "\n\n".join(parts)


_EVERYWHERE = ("--json", "--database", "--config", "--help")


def _command(command: click.Command, context: click.Context, level: int = 2) -> Iterator[str]:
    yield f"{'#' * level} {context.command_path}"
    yield _prose(command.help or "")
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            if found.hidden:
                continue
            yield from _command(found, click.Context(found, parent=context, info_name=name), level + 1)
        return
    pieces = [piece for piece in command.collect_usage_pieces(context) if piece != "[OPTIONS]"]
    yield "```usage\n" + " ".join([context.command_path, "[OPTIONS]", *pieces]) + "\n```"
    rows = []
    for option in command.get_params(context):
        record = option.get_help_record(context) if isinstance(option, click.Option) else None
        if record and not any(name in record[0] for name in _EVERYWHERE):
            rows.append([f"`{record[0]}`", record[1]])
    if rows:
        yield table(("option", "what it does"), rows)


def _prose(text: str) -> str:
    """Paragraphs, each filled anew."""
    return "\n\n".join(
        fill(" ".join(each.split()), WIDTH, break_on_hyphens=False) for each in text.strip().split("\n\n")
    )


# --------------------------------------------------------------------------------------------------------------- errors
def errors() -> str:
    rows = ([f"`{code}`", said, str(STATUS[code]), str(BY_CODE[code])] for code, said in MEANINGS.items())
    return "\n\n".join(
        [
            "# Errors",
            _prose("""
            Every refusal has the same shape: `{code, message, fix}`, and further facts where they help, such as
            `current` after a conflict. `code` is one of these and does not change; `message` says what is wrong, `fix`
            what to do. A tool answers it as its result with `isError`, HTTP as `{"error": …}`, the command line on
            standard error.
            """),
            table(("code", "meaning", "HTTP", "exit code"), rows),
        ]
    )


# ---------------------------------------------------------------------------------------------------------- permissions
def permissions() -> str:
    served = {name: each for name, each in OPERATIONS.items() if name.partition(".")[0] in SERVED or "." not in name}
    modes = ("read", "suggest", "write", "admin")
    first = {"read": 0, "write": 1, "admin": 3}
    rows = (
        [
            f"`{name}`",
            *("yes" if n >= first[each.need] else "" for n, _ in enumerate(modes)),
            *("yes" if each.family in PRESET_FAMILIES[preset] else "" for preset in PRESETS),
        ]
        for name, each in served.items()
    )
    return "\n\n".join(
        [
            "# Permissions",
            _prose("""
            Every operation of every door, and which connections may use it. What is in no table is refused. The mode
            says what a connection may do at most; in `suggest`, and wherever the vault's policy says so, a write waits
            for a person. A preset narrows the mode further: of a key (`dolmen key create --preset`), or of one request
            (`X-Memento-Mode`). A preset's tools are the only ones that `tools/list` shows.
            """),
            table(("operation", *modes, *(f"preset {preset}" for preset in PRESETS)), rows),
            "## Without a credential",
            table(("address", "why"), ([f"`{name}`", why] for name, why in ANYBODY.items())),
            "## Pages of people who are signed in",
            table(("address",), ([f"`{name}`"] for name in sorted(PERSONS))),
        ]
    )


# ---------------------------------------------------------------------------------------------------------------- tools
def tools() -> str:
    footprint = stored()
    parts = [
        "# Tools",
        _prose("""
        A connection sees one toolset: its key's, or that of the path (`/mcp/openai`), or `DOLMEN_TOOLSET` for
        `dolmen mcp`. Tokens are those of the whole `tools/list`, counted as cl100k.
        """),
    ]
    for name, face in faces().items():
        cost = footprint[name]
        parts += [
            f"## Toolset {name}",
            f"{cost['tools']} tools, {cost['list']:,} tokens; instructions, {cost['instructions']} tokens:",
            f"> {face.instructions}",
        ]
        for tool in face.tools:
            parts += _tool(tool)
        if face.resources:
            rows = [(f"`{each.uri}`", each.description) for each in face.resources]
            parts += ["### Resources", table(("address", "what it is"), rows)]
        if face.prompts:
            parts += ["### Prompts", table(("prompt", "arguments", "for"), [_prompt(each) for each in face.prompts])]
    return "\n\n".join(parts)


def _prompt(prompt: Prompt) -> tuple[str, str, str]:
    names = [f"`{name}`" if required else f"`{name}`, optional" for name, _, required in prompt.arguments]
    return f"`{prompt.name}`", "; ".join(names), prompt.description


def _tool(tool: Tool) -> Iterator[str]:
    needs = {"read": "reads", "write": "writes; a `suggest` connection proposes", "admin": "needs an admin connection"}
    hints = tool.annotations
    traits = [needs[tool.need], *(["idempotent"] if hints.idempotent and not hints.read_only else [])]
    yield f"### {tool.name}"
    yield f"{tool.description} ({', '.join(traits)})"
    required = tool.schema.get("required", ())
    rows = [
        [f"`{name}`", _type(schema), "yes" if name in required else "", schema.get("description", "")]
        for name, schema in tool.schema["properties"].items()
    ]
    if rows:
        yield table(("argument", "type", "needed", "what it is"), rows)


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    kind = schema.get("type", "any")
    kind = " or ".join(kind) if isinstance(kind, list) else kind
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if kind == "object" and "properties" in schema:
        needed = schema.get("required", ())
        inner = (f"`{name}`{'' if name in needed else '?'}" for name in schema["properties"])
        return f"object of {', '.join(inner)}"
    return str(kind)


# --------------------------------------------------------------------------------------------------------------- export
def export() -> str:
    lines: dict[str, type] = {
        "note": Note,
        "revision (in `revisions` of a note)": NoteRevision,
        "memory": Memory,
        "revision (in `revisions` of a memory)": Revision,
        "case (in a memory)": Case,
        "link": Link,
        "code_ref": CodeRef,
        "proposal": Proposal,
        "feedback": Feedback,
    }
    parts = [
        "# Export format",
        _prose(f"""
        JSON Lines in UTF-8, one object a line, each with a `type`. The first line is
        `{{"format": "{FORMAT}", "version": {VERSION}, …}}` with the program, the time, the number of memories and what
        is left out; the last is `{{"type": "end", "counts": {{…}}}}`, so that a file that was cut off is noticed. Times
        are microseconds since 1970-01-01T00:00:00Z, UTC. Besides the types below there are `alias` (`old`, `new`:
        scopes) and `setting` (`key`, `value`); a note has its former addresses in `aliases`. Unknown types and fields
        are refused by an import, line by line.
        """),
        "## What is left out",
        table(("what", "why"), EXCLUDED.items()),
    ]
    for name, kind in lines.items():
        rows = [[f"`{each.name}`", f"`{each.type}`"] for each in fields(kind) if each.name != "vault"]
        parts += [f"## {name}", table(("field", "type"), rows)]
    return "\n\n".join(parts)


# -------------------------------------------------------------------------------------------------------------- Kenfold
def kenfolds() -> str:
    shown = json.dumps(view(SAMPLE, 0.83), ensure_ascii=False, indent=2)
    types = ([f"`{type}`", ", ".join(f"`{kind}`" for kind in kinds)] for type, kinds in KINDS_OF.items())
    return "\n\n".join(
        [
            "# Kenfold's tools and variables",
            _prose("""
            The toolset `kenfold` has Kenfold's six tools with its names, parameters, defaults and limits
            ([tools](tools.md#toolset-kenfold)) over the same memories as every other toolset. It is at
            `/mcp/kenfold`, at `/mcp` for a key of that toolset, and in `dolmen mcp` with `DOLMEN_TOOLSET=kenfold`.
            How to move: [switch from Kenfold](../how-to/switch-from-kenfold.md).
            """),
            "## Results",
            table(
                ("tool", "result"),
                (
                    (
                        "`get_context`",
                        "`preferences[]`, `handoff` when one waits, `recent[]`, `project[]`, `relevant[]`, `truncated`",
                    ),
                    ("`remember`", "`id`, `type`, `status`, `deduplicated`, `similar[]`"),
                    ("`recall`", "`memories[]`, by falling `score`"),
                    ("`handoff`", "`id`, `expires_at`"),
                    ("`resume`", "`handoff`, or nothing"),
                    ("`forget`", "`id`, `status`"),
                ),
            ),
            _prose("""
            Any result may have `notes[]` besides: what was understood otherwise than it was written, and what a search
            could not do. A refusal is a result with `isError` and `{"error": {code, message, fix}}`
            ([errors](errors.md)).

            A memory looks like this. Absent unless they apply: `score` (search results), `expires_at`, `next_steps` and
            `resumed_by` (handoffs), `code_refs[]` with `path`, `symbol`, `state` and `checked_commit`, and `stale`.
            """),
            f"```json\n{shown}\n```",
            "## Types",
            _prose("""
            A type is kept as the first kind beside it; what another toolset wrote under any of the kinds reads as that
            type. Nothing is lost either way.
            """),
            table(("type", "kinds"), types),
            "## Environment variables",
            _prose("""
            Read where Dolmen's own variable is not set. What has no counterpart stands here with the reason.
            """),
            table(("Kenfold", "Dolmen", "what to know"), (_counterpart(each) for each in COUNTERPARTS)),
        ]
    )


SAMPLE = Memory(
    id="01996a60-2b40-7c3e-9d52-0e6f4c1d8a77",
    vault="",
    scope="project:github.com/kenfold/kenfold",
    kind="decision",
    text="HTTP transport is stateless; do not rely on Mcp-Session-Id.",
    agent="claude-code",
    created_at=1_790_488_800_000_000,
)


def _counterpart(each: Counterpart) -> Iterator[str]:
    known = {row.name: row for row in TABLE}
    here = [known[name].variable for name in each.settings if name in known]
    missing = [name for name in each.settings if name not in known]
    yield f"`{each.variable}`"
    yield ", ".join(f"`{variable}`" for variable in here) if here else "no setting yet" if missing else "-"
    yield each.says + (" Not read." if here and each.read is None else "")


# ---------------------------------------------------------------------------------------------------------------- hooks
def hooks() -> str:
    """Which file of which client says what, from the one table that `dolmen install` writes them by."""
    places = (
        [
            target.title,
            _file(target.server.user),
            _file(target.server.project),
            _file(target.hooks.user if target.hooks else ""),
            _file(target.hooks.project if target.hooks else ""),
            _file(target.rules.user if target.rules else ""),
            _file(target.rules.project if target.rules else ""),
        ]
        for target in TARGETS
    )
    events = ([target.title, _events(target), target.tried] for target in TARGETS)
    return "\n\n".join(
        [
            "# Clients and their session hooks",
            _prose("""
            `dolmen install` writes these files and `dolmen uninstall` takes its part out of them; how to use both:
            [connect agents with hooks](../how-to/hooks.md). `~/.config/Code/` stands for where the editor keeps its
            settings on your system. A dash: the client has no such file.
            """),
            "## Files",
            table(
                ("client", "servers", "of a project", "hooks", "of a project", "instructions", "of a project"), places
            ),
            "## Events",
            _prose("""
            Which events the hook is registered for, the seconds that the client gives it, and with which version of the
            client it was tried (2026-11-30, on Linux, with a stand-in for the model: `bench/conformance/run sessions`).
            An event or a field that the hook does not know, it ignores.
            """),
            table(("client", "events", "tried"), events),
            "## What the hook does",
            table(("when", "what", "network"), _DOINGS),
            _prose("""
            The hook ends with exit code 0 whatever happens, and after 6 seconds at the start of a session, 2.5 at its
            end and 2 otherwise, whatever it is doing. It keeps its files in the folder that `DOLMEN_STATE_DIR` names,
            else in `hook/` in the user's data directory (`~/.local/share/dolmen/` on Linux), readable by nobody else:
            session logs for 14 days after their last event, undelivered summaries for 30. Secrets are replaced by
            `[redacted …]` before anything is written.
            """),
        ]
    )


_DOINGS = (
    (
        "a session starts",
        "finds the project out; sends summaries that wait; sums up sessions of this client that were never ended and "
        "have been silent for an hour; checks the code that memories mention, within 2 s; gives the context "
        "(1,500 tokens at most), framed as reference data. Once per session: again after a compaction and after "
        "clearing, not after resuming. On failure, one notice to the person.",
        "yes",
    ),
    (
        "a prompt, a final response, a summary of a compaction",
        "is added to the session's log; nothing is printed",
        "no",
    ),
    (
        "a session ends",
        "its summary (requests, final response, compaction) goes to the spool, then to memory, as an `episode` that "
        "replaces the session's earlier one",
        "yes, 1 s",
    ),
)


def _file(name: str) -> str:
    return f"`{name}`" if name else "-"


def _events(target: Target) -> str:
    if target.hooks is None:
        return "none"
    if target.hooks.shape == "plugin":
        return "the plugin's own: `chat.message`, `experimental.chat.system.transform`, `event`"
    return ", ".join(f"`{name}`" + (f" {limit}" if limit else "") for name, limit in target.hooks.events.items())


GENERATORS: dict[str, Callable[[], str]] = {
    "reference/settings.md": settings,
    "reference/cli.md": command_line,
    "reference/errors.md": errors,
    "reference/permissions.md": permissions,
    "reference/tools.md": tools,
    "reference/export.md": export,
    "reference/kenfold.md": kenfolds,
    "reference/hooks.md": hooks,
}
"""The page, below docs/, and what makes its text after MARK."""


def page(name: str) -> str:
    """The whole text of a generated page."""
    return f"{MARK}\n\n{GENERATORS[name]().strip()}\n"


def main(arguments: list[str]) -> int:
    """Write every page, or with --check name those that differ; exit code 1 when there are any."""
    stale = [name for name in GENERATORS if not (DOCS / name).is_file() or (DOCS / name).read_text() != page(name)]
    for name in stale:
        print(f"{'differs' if '--check' in arguments else 'written'}: docs/{name}")
        if "--check" not in arguments:
            (DOCS / name).parent.mkdir(parents=True, exist_ok=True)
            (DOCS / name).write_text(page(name))
    return int(bool(stale) and "--check" in arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
