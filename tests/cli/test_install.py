"""`dolmen install` and `uninstall` on homes with all kinds of files in them, and what they write tried out."""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dolmen.client import endpoint
from dolmen.client.hook.adapters import MODULES
from dolmen.interfaces.cli.commands.doctor import hooks as checking
from dolmen.interfaces.cli.commands.install.planning import RULES, Way, installed
from dolmen.interfaces.cli.commands.install.program import Program, quoted
from dolmen.interfaces.cli.main import cli
from dolmen.interfaces.clients.places import place
from dolmen.interfaces.clients.targets import TARGETS, Target
from tests.interfaces.conftest import serving

pytestmark = pytest.mark.slow

KEY = "dlm_" + "aB3" * 15
CLIENTS = [target.client for target in TARGETS]
Dolmen = Callable[..., Result]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, with the working directory in it."""
    here = tmp_path / "shop"
    here.mkdir()
    monkeypatch.chdir(here)
    for name in [name for name in os.environ if name.startswith(("DOLMEN_", "CODEX_", "CLAUDE_", "COPILOT_"))]:
        monkeypatch.delenv(name)
    for name, value in {"HOME": "", "XDG_DATA_HOME": "data", "XDG_CONFIG_HOME": ".config"}.items():
        monkeypatch.setenv(name, str(tmp_path / value))
    monkeypatch.setenv("DOLMEN_EMBEDDER", "none")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return tmp_path


@pytest.fixture
def dolmen(home: Path) -> Dolmen:
    def run(*words: str, code: int = 0, input: str = "") -> Result:
        result = CliRunner().invoke(cli, list(words), input=input, prog_name="dolmen")
        assert result.exit_code == code, result.output
        return result

    return run


def snapshot(home: Path) -> dict[str, bytes]:
    """Every file but Dolmen's own."""
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and not path.name.endswith(".dolmen-backup") and path.relative_to(home).parts[0] != "data"
    }


def test_what_would_be_added_is_cut_unless_all_of_it_is_asked_for_and_what_goes_never_is(
    home: Path, dolmen: Dolmen
) -> None:
    (home / ".claude").mkdir()
    short, full = dolmen("install", "claude-code", "--dry-run"), dolmen("install", "claude-code", "--dry-run", "--full")
    assert len(short.stdout.splitlines()) < 40 < len(full.stdout.splitlines())
    assert "more added lines (--full shows them)" in short.stdout
    assert "SessionEnd" in full.stdout
    dolmen("install", "claude-code", "--yes")
    going = dolmen("uninstall", "claude-code", "--dry-run").stdout
    assert "SessionEnd" in going
    assert "--full" not in going


def values(file: Path) -> Any:
    return tomllib.loads(file.read_text()) if file.suffix == ".toml" else json.loads(file.read_text())


def server_of(target: Target, home: Path, project: bool = False) -> Any:
    name = target.server.project if project else target.server.user
    found = values(place(name, home, home / "shop"))
    for key in target.server.path:
        found = found[key]
    return found


@pytest.mark.parametrize("target", TARGETS, ids=CLIENTS)
@pytest.mark.parametrize("project", [False, True], ids=["user", "project"])
@pytest.mark.parametrize("way", ["http", "stdio"])
def test_what_is_installed_is_removed_without_a_trace(
    target: Target, project: bool, way: str, home: Path, dolmen: Dolmen
) -> None:
    before = snapshot(home)
    options = ["--rules", "--yes", *(["--project"] if project else []), *(["--stdio"] if way == "stdio" else [])]
    dolmen("install", target.client, *options)
    after = snapshot(home)
    assert after != before
    dolmen("install", target.client, *options)
    assert snapshot(home) == after, "a second time changes nothing"
    dolmen("uninstall", target.client, "--yes", *(["--project"] if project else []))
    left = {name for name in snapshot(home) if name != ".config/dolmen/connections.json"}
    assert left == set(before)


OTHERS: dict[str, dict[str, str]] = {
    "claude-code": {
        ".claude.json": '{\n  "numStartups": 7,\n  "mcpServers": {\n    "x": {\n      "command": "y"\n    }\n  }\n}',
        ".claude/settings.json": (
            '{\n  // by hand\n  "hooks": {\n    "Stop": [\n      {\n        "hooks": [{"type": "command", '
            '"command": "say done"}]\n      }\n    ]\n  },\n}\n'
        ),
        ".claude/CLAUDE.md": "# Mine\n\nUse tabs.\n",
    },
    "codex": {
        ".codex/config.toml": '# mine\nmodel = "m" # good\n\n[mcp_servers.x]\ncommand = "y"\n\n[tui]\ntheme = "a"\n',
        ".codex/hooks.json": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}\n',
        ".codex/AGENTS.md": "# Mine, without an end",
    },
    "qwen": {".qwen/settings.json": "// mine\n{\n  // nothing yet\n}\n"},
    "gemini": {
        ".gemini/settings.json": '{\r\n\t"theme": "x", // ok\r\n\t"hooks": {\r\n\t\t"AfterAgent": [1]\r\n\t}\r\n}'
    },
    "cursor": {".cursor/hooks.json": '{"version": 1, "hooks": {"stop": [{"command": "x hook y"}]}}'},
    "opencode": {
        ".config/opencode/opencode.json": '{\n  // model\n  "model": "m",\n  "mcp": {"x": {"type": "local"}},\n}\n'
    },
    "windsurf": {".codeium/windsurf/hooks.json": '{ "hooks": { "pre_user_prompt": [ { "command": "mine" } ] } }\n'},
}


@pytest.mark.parametrize("client", OTHERS)
def test_what_stood_there_before_stays_to_the_byte(client: str, home: Path, dolmen: Dolmen) -> None:
    for name, text in OTHERS[client].items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(text.encode())
    before = snapshot(home)
    dolmen("install", client, "--rules", "--yes")
    for name, data in before.items():
        copy = (home / name).with_name(Path(name).name + ".dolmen-backup")
        assert not copy.exists() or copy.read_bytes() == data
        now = iter((home / name).read_bytes().decode())
        assert all(letter in now for letter in data.decode()), f"{name} lost something, or has it in another order"
    dolmen("uninstall", client, "--yes")
    assert snapshot(home) == before


def test_an_entry_that_is_there_is_brought_up_to_date_in_its_place(home: Path, dolmen: Dolmen) -> None:
    """The place counts: Codex keeps under it what the person approved."""
    dolmen("install", "codex", "--yes")
    file = home / ".codex" / "hooks.json"
    whole = json.loads(file.read_text())
    whole["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "say done"}]})
    file.write_text(json.dumps(whole, indent=2))
    kept = file.read_text()
    dolmen("install", "codex", "--yes")
    assert file.read_text() == kept
    moved = kept.replace(json.loads(kept)["hooks"]["Stop"][0]["hooks"][0]["command"], "/old/place/dolmen hook codex")
    file.write_text(moved)
    dolmen("install", "codex", "--yes")
    commands = [h["command"] for g in json.loads(file.read_text())["hooks"]["Stop"] for h in g["hooks"]]
    assert commands[0] == "say done"
    assert commands[1].endswith("hook codex")
    assert "/old/place" not in commands[1]
    assert len(commands) == 2


@pytest.mark.parametrize("target", TARGETS, ids=CLIENTS)
def test_a_key_is_kept_from_other_eyes_and_out_of_what_is_shown(target: Target, home: Path, dolmen: Dolmen) -> None:
    options = ("install", target.client, "--url", "https://memory.example.com/mcp", "--key", KEY, "--yes")
    shown = dolmen(*options)
    assert KEY not in shown.output
    holding = [path for path in home.rglob("*") if path.is_file() and KEY in path.read_text()]
    assert len(holding) == 2, "the client's file, and the hook's"
    for path in holding:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    again = json.loads(dolmen(*options, "--json").stdout)
    assert again == {"applied": False, "changes": [], "notes": []}
    assert endpoint.load()[target.client] == {"url": "https://memory.example.com/mcp", "key": KEY}
    removed = dolmen("uninstall", target.client, "--yes")
    assert KEY not in removed.output
    assert endpoint.load() == {}


@pytest.mark.parametrize("typed", ["https://memory.example.com", "https://memory.example.com/"])
def test_an_address_without_a_path_is_that_of_the_server_whose_tools_are_at_mcp(
    typed: str, home: Path, dolmen: Dolmen
) -> None:
    dolmen("install", "claude-code", "--url", typed, "--key", KEY, "--yes")
    [target] = [target for target in TARGETS if target.client == "claude-code"]
    assert server_of(target, home)["url"] == "https://memory.example.com/mcp"
    assert endpoint.load()["claude-code"] == {"url": "https://memory.example.com/mcp", "key": KEY}
    dolmen("install", "claude-code", "--url", "https://memory.example.com/behind/a/proxy", "--key", KEY, "--yes")
    assert server_of(target, home)["url"] == "https://memory.example.com/behind/a/proxy"


@pytest.mark.parametrize("target", [t for t in TARGETS if t.server.project], ids=lambda target: target.client)
def test_a_file_that_may_be_committed_names_the_key_and_does_not_hold_it(
    target: Target, home: Path, dolmen: Dolmen
) -> None:
    dolmen("install", target.client, "--project", "--key", KEY, "--url", "https://memory.example.com/mcp", "--yes")
    said = json.dumps(server_of(target, home, project=True))
    assert "DOLMEN_KEY" in said
    for path in (home / "shop").rglob("*"):
        assert not path.is_file() or KEY not in path.read_text(), path
        assert not path.is_file() or sys.executable not in path.read_text(), "a path of this machine"


def test_a_file_keeps_its_permissions_and_a_link_stays_a_link(home: Path, dolmen: Dolmen) -> None:
    real = home / "dotfiles" / "settings.json"
    real.parent.mkdir()
    real.write_text("{}\n")
    real.chmod(0o640)
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").symlink_to(real)
    dolmen("install", "claude-code", "--yes")
    assert (home / ".claude" / "settings.json").is_symlink()
    assert "hook claude-code" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_only_the_clients_of_this_machine_are_set_up_when_none_is_named(home: Path, dolmen: Dolmen) -> None:
    assert "No client was found" in dolmen("install", "--yes", code=3).output
    (home / ".gemini").mkdir()
    (home / ".codeium" / "windsurf").mkdir(parents=True)
    found = json.loads(dolmen("install", "--dry-run", "--json").stdout)
    assert {change["client"] for change in found["changes"]} == {"gemini", "windsurf"}
    assert found["applied"] is False
    (home / ".gemini" / "settings.json").write_text("{")
    found = json.loads(dolmen("install", "--dry-run", "--json").stdout)
    assert {change["client"] for change in found["changes"]} == {"windsurf"}, "the broken one is left out, and named"


def test_a_key_is_made_for_each_client_once(home: Path, dolmen: Dolmen) -> None:
    dolmen("install", "claude-code", "codex", "--new-key", "--yes")
    dolmen("install", "claude-code", "codex", "--new-key", "--yes")
    keys = json.loads(dolmen("key", "list", "--json").stdout)["keys"]
    assert sorted(key["agent"] for key in keys) == ["claude-code", "codex"]
    entered = endpoint.load()
    assert entered["codex"]["key"] != entered["claude-code"]["key"]
    assert values(home / ".codex" / "config.toml")["mcp_servers"]["dolmen"]["http_headers"] == {
        "Authorization": f"Bearer {entered['codex']['key']}"
    }


def test_units_of_time_are_those_of_the_client(home: Path, dolmen: Dolmen) -> None:
    """B104: Gemini CLI and Qwen Code count in milliseconds, the others in seconds."""
    dolmen("install", *CLIENTS, "--yes")
    for client, file in (("gemini", ".gemini/settings.json"), ("qwen", ".qwen/settings.json")):
        hooks = values(home / file)["hooks"]
        assert hooks["SessionStart"][0]["hooks"][0]["timeout"] == 10_000, client
    for client, file in (("claude-code", ".claude/settings.json"), ("codex", ".codex/hooks.json")):
        hooks = values(home / file)["hooks"]
        assert hooks["SessionStart"][0]["hooks"][0]["timeout"] == 10, client
    assert values(home / ".codex/hooks.json")["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"] <= 3, "all that it gives"
    assert values(home / ".cursor/hooks.json")["hooks"]["sessionStart"][0]["timeout"] == 10


def test_every_registered_event_is_one_that_the_adapter_understands(home: Path, dolmen: Dolmen) -> None:
    from dolmen.client.hook.adapters import adapter_for

    for target in TARGETS:
        assert target.client in MODULES
        assert target.hooks is not None
        adapter = adapter_for(target.hooks.speaker or target.client)
        assert adapter is not None
        for event in target.hooks.events:
            names = {"hook_event_name": event, "agent_action_name": event}
            assert adapter.read(names).kind != "ignored", (target.client, event)


SPACED = "Mina Park"


@pytest.mark.parametrize("shell", ["sh", "bash", "dash"])
def test_a_folder_with_a_space_breaks_no_hook(shell: str, tmp_path: Path) -> None:
    """B115: the command as it stands in the client's file, run by its shell."""
    if subprocess.run(["which", shell], capture_output=True, check=False).returncode:
        shell = "sh"
    program = tmp_path / SPACED / "it's" / "dolmen"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nprintf "%s " "$@" > "{tmp_path}/said"\n')
    program.chmod(0o755)
    for target in TARGETS:
        for_project = target.hooks is not None and not target.hooks.user
        way = Way(Program((str(program),)), "http://x/mcp", project=for_project)
        steps = installed(target, way, tmp_path, tmp_path)
        [text] = [step.change.after for step in steps if "hooks" in step.what]
        assert text is not None
        if target.hooks is not None and target.hooks.shape == "plugin":
            assert json.dumps(str(program)) in text
            continue
        command = _first_command(json.loads(text)["hooks"])
        subprocess.run([shell, "-c", command], check=True, input=b"{}")
        speaker = (target.hooks and target.hooks.speaker) or target.client
        assert (tmp_path / "said").read_text() == f"hook {speaker} "


def _first_command(hooks: Any) -> str:
    entry = next(iter(hooks.values()))[0]
    return str(entry["hooks"][0]["command"] if "hooks" in entry else entry["command"])


def test_on_windows_the_command_is_one_that_its_shells_start() -> None:
    """B115: the bare name in Git Bash, cmd and PowerShell; a path in quotes in the first two."""
    program = Program(("C:\\Users\\Mina Park\\venv\\Scripts\\dolmen.exe",))
    bare = quoted(program, "codex", windows=True, on_path="C:/Users/Mina Park/venv/Scripts/dolmen.EXE")
    assert bare == "dolmen hook codex"
    path = quoted(program, "codex", windows=True, on_path="C:/elsewhere/dolmen.exe")
    assert path == '"C:/Users/Mina Park/venv/Scripts/dolmen.exe" hook codex'
    assert shlex.split(path)[1:] == ["hook", "codex"]


@pytest.mark.parametrize(
    "text",
    ['{"hooks": []}', '{"hooks": {"Stop": {}}}', '{"hooks": "none"}', "[]", '{"hooks": {"Stop": [1, null, "x"]}}'],
)
def test_hooks_of_an_unknown_form_are_refused_or_kept(text: str, home: Path, dolmen: Dolmen) -> None:
    file = home / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(text)
    result = CliRunner().invoke(cli, ["install", "claude-code", "--yes"], prog_name="dolmen")
    assert "inside Dolmen" not in result.output
    if result.exit_code:
        assert "is not as Claude Code writes it" in result.output
        assert not (home / ".claude.json").exists(), "all or nothing"
        assert found_by_doctor() == []
    dolmen("uninstall", "claude-code", "--yes")
    assert file.read_text() == text


def test_a_home_that_was_moved_is_followed(tmp_path: Path) -> None:
    moved = {"CODEX_HOME": "/a", "CLAUDE_CONFIG_DIR": "/b", "COPILOT_HOME": "/c", "XDG_CONFIG_HOME": "/d"}
    names = ("~/.codex/hooks.json", "~/.claude.json", "~/.claude/settings.json", "~/.copilot/hooks/dolmen.json",
             "~/.config/opencode/opencode.json", "./.mcp.json", "~/.cursor/mcp.json")  # fmt: skip
    found = [str(place(name, Path("/home/ada"), Path("/w"), moved)) for name in names]
    assert found == ["/a/hooks.json", "/b/.claude.json", "/b/settings.json", "/c/hooks/dolmen.json",
                     "/d/opencode/opencode.json", "/w/.mcp.json", "/home/ada/.cursor/mcp.json"]  # fmt: skip


def test_a_file_that_changes_between_the_question_and_the_answer_is_left_alone(home: Path, tmp_path: Path) -> None:
    from dolmen.client.editing.files import apply
    from dolmen.domain.errors import DolmenError

    target = next(target for target in TARGETS if target.client == "claude-code")
    file = home / ".claude.json"
    file.write_text("{}")
    [step, *_] = installed(target, Way(Program(("dolmen",)), "http://x/mcp"), home, home)
    file.write_text('{"numStartups": 8}')
    with pytest.raises(DolmenError) as caught:
        apply(step.change)
    assert caught.value.code == "conflict"
    assert file.read_text() == '{"numStartups": 8}'


def test_the_rules_are_short_and_name_tools_that_exist() -> None:
    from dolmen.interfaces.mcp.registry import faces

    named = set(re.findall(r"`([^`]+)`", RULES))
    tools = named - {"<dolmen-memory>", "project", "supersedes"}
    core, kenfold = set(faces()["core"].by_name), set(faces()["kenfold"].by_name)
    assert tools - core == {"get_context"}, "the file is written for whatever key the client has"
    assert tools - kenfold == {"context"}
    assert tools & core & kenfold == {"recall", "remember", "handoff", "resume"}
    assert len(RULES) < 1_000


# --------------------------------------------------------------------------------------------------------------- doctor
def found_by_doctor(*words: str, **settings: str) -> list[dict[str, str]]:
    variables = {f"DOLMEN_{name.upper()}": value for name, value in settings.items()}
    done = subprocess.run(
        [sys.executable, "-m", "dolmen", "doctor", "--quick", "--json", *words],
        env={**os.environ, **variables}, capture_output=True, check=False,
    )  # fmt: skip
    return [each for each in json.loads(done.stdout)["findings"] if each["name"] == "hooks"]


def test_doctor_knows_which_hooks_codex_runs(home: Path) -> None:
    """B111: the hashes are those that Codex 0.171.0 showed for this file."""
    file = home / ".codex" / "hooks.json"
    file.parent.mkdir()
    ours = {"type": "command", "command": "/usr/local/bin/dolmen hook codex"}
    groups = [{"hooks": [{"type": "command", "command": "echo mine"}]}, {"hooks": [{**ours, "timeout": 10}]}]
    text = json.dumps({"hooks": {"SessionStart": groups, "SessionEnd": [{"hooks": [{**ours, "timeout": 3}]}]}})
    expected = {
        f"{file}:session_start:1:0": "sha256:e5331e1c2b9c5feb278b2d5e63445ad3cee50b017c7777f67521280138b18edc",
        f"{file}:session_end:0:0": "sha256:2c562dfaeb820d7b2bf96f00fa4691a03801f07be0ecfc9a990b9b357f5c1f4f",
    }
    assert {name: hash for _, name, hash in checking._fingerprints(file, text)} == expected
    assert len(list(checking._trusted(file, text))) == 1
    states = "".join(f'[hooks.state."{name}"]\ntrusted_hash = "{hash}"\n' for name, hash in expected.items())
    (file.parent / "config.toml").write_text(states)
    assert list(checking._trusted(file, text)) == []
    changed = text.replace('"timeout": 3', '"timeout": 2')
    [finding] = checking._trusted(file, changed)
    assert "SessionEnd" in finding.what
    assert "SessionStart" not in finding.what


def test_doctor_notices_a_program_that_is_gone_and_a_key_that_is_refused(home: Path, dolmen: Dolmen) -> None:
    dolmen("install", "claude-code", "--url", "http://127.0.0.1:9/mcp", "--key", KEY, "--yes")
    [silent] = [each for each in found_by_doctor() if each["level"] != "ok"]
    assert "no server answers at http://127.0.0.1:9/mcp" in silent["what"]
    from dolmen.interfaces.http.options import HttpOptions

    with serving(f"sqlite:///{home}/s.db", HttpOptions(auth="keys"), embedder="none") as served:
        dolmen("install", "claude-code", "--url", served.url, "--key", KEY, "--yes")
        [refused] = [each for each in found_by_doctor() if each["level"] != "ok"]
        assert "refused" in refused["what"]
        dolmen("install", "claude-code", "--url", served.url, "--key", served.key("claude-code"), "--yes")
        assert [each["level"] for each in found_by_doctor()] == ["ok"]
    file = home / ".claude" / "settings.json"
    words = json.loads(file.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    file.write_text(file.read_text().replace(words, "/gone/dolmen hook claude-code"))
    assert any("/gone/dolmen, which is not there" in each["what"] for each in found_by_doctor())


def test_doctor_says_once_when_a_clients_hook_last_ran_and_which_files_run_it(home: Path, dolmen: Dolmen) -> None:
    mine, ours = home / ".claude" / "settings.json", home / "shop" / ".claude" / "settings.json"
    dolmen("install", "claude-code", "--stdio", "--yes")
    ours.parent.mkdir()
    ours.write_text(mine.read_text())
    [told] = [each for each in found_by_doctor() if each["level"] == "ok"]
    assert told["what"] == f"Claude Code ({mine}, {ours}): there, and has not run yet"
    checking.status.note("claude-code", ())
    [told] = [each for each in found_by_doctor() if each["level"] == "ok"]
    assert told["what"] == f"Claude Code ({mine}, {ours}): last session began just now, and had its context"


@pytest.mark.parametrize("client", CLIENTS)
def test_a_projects_link_to_elsewhere_is_not_followed(client: str, home: Path, dolmen: Dolmen) -> None:
    """Whoever wrote the repository would choose which of this user's files is overwritten."""
    mine = home / ".profile"
    mine.write_text("")
    target = next(each for each in TARGETS if each.client == client)
    names = [each.project for each in (target.server, target.hooks, target.rules) if each and each.project]
    for name in names:
        link = home / "shop" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(mine)
        said = dolmen("install", client, "--project", "--rules", code=7).output
        assert "leads out of the project" in said
        assert mine.read_text() == ""
        link.unlink()


def test_a_link_within_the_project_stays_one(home: Path, dolmen: Dolmen) -> None:
    (home / "shop" / "AGENTS.md").write_text("# Rules\n")
    (home / "shop" / "CLAUDE.md").symlink_to("AGENTS.md")
    dolmen("install", "claude-code", "--project", "--rules", "--yes")
    assert (home / "shop" / "CLAUDE.md").is_symlink()
    assert RULES in (home / "shop" / "AGENTS.md").read_text()


EMPTY: dict[str, dict[str, str]] = {
    "claude-code": {".claude.json": '{"mcpServers": {}}', ".claude/settings.json": "{}", ".claude/CLAUDE.md": ""},
    "gemini": {".gemini/settings.json": '{\n  "mcpServers": {\n  },\n  "hooks": { "SessionStart": [] }\n}\n'},
    "cursor": {".cursor/mcp.json": "{ }\n", ".cursor/hooks.json": '{"version": 1}\n'},
    "codex": {".codex/config.toml": "[mcp_servers]\n", ".codex/hooks.json": '{"hooks": {"Stop": []}}'},
    "opencode": {".config/opencode/opencode.json": "", ".config/opencode/plugins/dolmen.js": "// somebody's own\n"},
    "copilot": {".copilot/mcp-config.json": '{"mcpServers": { }}', ".copilot/hooks/dolmen.json": "{}"},
}


@pytest.mark.parametrize("client", EMPTY)
@pytest.mark.parametrize("again", [[], ["--no-hooks"], ["--stdio"]], ids=["once", "without hooks first", "another way"])
def test_what_was_empty_before_is_given_back_as_it_was(
    client: str, again: list[str], home: Path, dolmen: Dolmen
) -> None:
    """Empty tables, `{}` and empty files are the person's too, and so is a home without the client's folders."""
    for name, text in EMPTY[client].items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(text.encode())
    before, folders = snapshot(home), {path for path in home.rglob("*") if path.is_dir()}
    if again:
        dolmen("install", client, "--yes", *again)
    dolmen("install", client, "--rules", "--yes")
    assert snapshot(home) != before
    dolmen("uninstall", client, "--yes")
    assert snapshot(home) == before
    assert list(home.rglob("*.dolmen-backup")) == []
    new = {path for path in home.rglob("*") if path.is_dir()} - folders
    assert {path.relative_to(home).parts[0] for path in new} <= {"data", ".config"}


def test_what_was_empty_stays_where_others_changed_the_file_since(home: Path, dolmen: Dolmen) -> None:
    file = home / ".claude.json"
    file.write_text('{"mcpServers": {}, "numStartups": 1}')
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"hooks": {"Stop": []}}')
    dolmen("install", "claude-code", "--yes")
    file.write_text(file.read_text().replace('"numStartups": 1', '"numStartups": 2'))
    settings.write_text(settings.read_text().replace("{", '{"model": "m", ', 1))
    dolmen("install", "claude-code", "--stdio", "--yes")
    dolmen("uninstall", "claude-code", "--yes")
    assert json.loads(file.read_text()) == {"mcpServers": {}, "numStartups": 2}
    assert json.loads(settings.read_text()) == {"model": "m", "hooks": {"Stop": []}}


def test_a_client_that_was_not_here_leaves_no_folder_that_says_it_is(home: Path, dolmen: Dolmen) -> None:
    dolmen("install", "codex", "--rules", "--yes")
    assert (home / ".codex").is_dir()
    dolmen("uninstall", "codex", "--yes")
    assert not (home / ".codex").exists()


def test_what_is_not_dolmens_stays_where_nothing_was_installed(home: Path, dolmen: Dolmen) -> None:
    for files in EMPTY.values():
        for name, text in files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text)
    before = snapshot(home)
    dolmen("uninstall", "--yes")
    assert snapshot(home) == before
