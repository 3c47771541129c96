"""What a person at a terminal sees, and how they stop it; what a program gets instead."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from tests.cli.test_start import start

pytestmark = pytest.mark.slow

TEXT = (
    "Deploys go out on Tuesdays and Thursdays, and never on a Friday, unless both of the owners agree. 배포는 화요일."
)


class Terminal:
    """A command at a terminal that is so many columns wide."""

    def __init__(self, words: list[str], url: str, columns: int = 100, **environment: str) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        variables = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        variables |= {"DOLMEN_DATABASE": url, "DOLMEN_EMBEDDER": "none", "NO_COLOR": "1", "TERM": "xterm"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dolmen", *words],
            env=variables | environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - this process has no other thread
        )
        os.close(slave)
        self.said = ""

    def until(self, end: str) -> None:
        """Reads on until that was said."""
        while end not in self.said and self._read():
            pass
        assert end in self.said

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def quiet(self) -> bool:
        """Reads what there is; whether it then runs on and has nothing to say."""
        while select.select([self._master], [], [], 1)[0]:
            if not self._read():
                return False
        return self.process.poll() is None

    def ended(self) -> tuple[int, list[str]]:
        """The exit code and every line."""
        while self._read():
            pass
        os.close(self._master)
        return self.process.wait(20), self.said.replace("\r\n", "\n").splitlines()

    def _read(self) -> bool:
        try:
            found = os.read(self._master, 100_000)
        except OSError:  # how a terminal says that nobody writes to it any more
            return False
        self.said += found.decode()
        return bool(found)


def width(line: str) -> int:
    from dolmen.interfaces.cli.output import width as columns

    return columns(line)


@pytest.mark.parametrize("columns", [40, 60, 100, 160])
def test_a_list_fits_the_terminal(sqlite_url: str, columns: int) -> None:
    start(["memory", "add", TEXT, "--kind", "convention", "--project", "github.com/acme/parcels"], sqlite_url)
    code, lines = Terminal(["memory", "list", "--all"], sqlite_url, columns).ended()
    assert code == 0
    assert max(map(width, lines)) <= columns
    assert any("Deploys go out on" in line for line in lines)
    assert lines[0].startswith("ref ")


def test_cells_stand_below_their_headings_also_where_the_text_has_a_line_of_its_own(sqlite_url: str) -> None:
    start(["memory", "add", "Deploys go out on Tuesdays, early", "--kind", "convention", "--user"], sqlite_url)
    start(["memory", "add", "Kim likes tea", "--kind", "fact", "--user"], sqlite_url)
    _, (heading, _, *rows) = Terminal(["memory", "list"], sqlite_url, 64).ended()
    assert rows[1::2] == ["  Kim likes tea", "  Deploys go out on Tuesdays, early"]
    for column, cells in (("kind", ["fact", "convention"]), ("agent", ["cli", "cli"])):
        at = heading.index(column)
        assert [row[at:].split()[0] for row in rows[::2]] == cells


@pytest.mark.parametrize("columns", [40, 80])
def test_an_answer_breaks_between_words_under_its_own_start(sqlite_url: str, columns: int) -> None:
    start(["memory", "add", TEXT, "--user"], sqlite_url)
    code, lines = Terminal(["memory", "search", "Tuesdays"], sqlite_url, columns).ended()
    assert code == 0
    text = [line for line in lines if line.startswith("  ")]
    assert " ".join(line.strip() for line in text) == TEXT, "no word is cut"
    assert len(text) > 1
    assert max(map(width, text)) <= columns


def test_what_doctor_finds_stands_to_the_right_of_what_it_looked_at(sqlite_url: str) -> None:
    _, lines = Terminal(["doctor", "--quick"], sqlite_url, 60).ended()
    further = [line for line in lines if line.startswith(" ")]
    assert further
    assert all(line.startswith(" " * 15) and line[15] != " " for line in further)


def test_a_pipe_gets_a_text_in_its_own_lines(sqlite_url: str) -> None:
    start(["memory", "add", TEXT + "\nAnd a second line.", "--user"], sqlite_url)
    answer = start(["memory", "search", "Tuesdays"], sqlite_url).stdout.decode().splitlines()
    assert [f"  {TEXT}", "  And a second line."] == answer[1:3]


def test_a_command_to_copy_is_not_broken() -> None:
    from dolmen.interfaces.cli.wrapping import wrapped

    lines = wrapped("Use it with `dolmen memory show 12345678`, or type it: dolmen doctor --quick", 24, len, rest="  ")
    assert lines == ["Use it with", "  `dolmen memory show 12345678`,", "  or type it:", "  dolmen doctor --quick"]


def test_a_list_of_keys_keeps_its_heading_on_a_narrow_terminal(sqlite_url: str) -> None:
    start(["key", "create", "claude-code", "--project", "github.com/acme/parcels"], sqlite_url)
    code, lines = Terminal(["key", "list"], sqlite_url, 80).ended()
    assert code == 0
    assert max(map(width, lines)) <= 80
    assert " ".join(lines[:2]).split()[:7] == ["id", "agent", "mode", "toolset", "key", "project", "state"]
    assert any("claude-code" in line for line in lines[1:])


@pytest.mark.parametrize("words", [["note", "edit", "plan"], ["note", "new"], ["memory", "edit"]])
def test_an_editor_that_is_closed_without_saving_changes_nothing_and_that_is_said(
    sqlite_url: str, words: list[str]
) -> None:
    added = json.loads(start(["memory", "add", "Kim likes tea", "--json"], sqlite_url).stdout)["ref"]
    start(["note", "new", "--permalink", "plan", "Tea at four."], sqlite_url)
    words = [*words, added] if words[0] == "memory" else words
    code, lines = Terminal(words, sqlite_url, EDITOR="true", VISUAL="").ended()
    assert (code, lines) == (130, ["The editor was closed without saving: nothing was changed."])


def test_what_is_no_terminal_gets_cells_between_tabs_uncut_and_without_a_heading(sqlite_url: str) -> None:
    start(["memory", "add", TEXT + "\nAnd a second line.", "--user", "--kind", "convention"], sqlite_url)
    [line] = start(["memory", "list"], sqlite_url).stdout.decode().splitlines()
    ref, kind, scope, agent, time, text = line.split("\t")
    assert (len(ref), kind, scope, agent) == (8, "convention", "user", "cli")
    assert text == TEXT + " And a second line."
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", time)


@pytest.mark.parametrize(
    ("settings", "zone"),
    [({"DOLMEN_ZONE": "Asia/Seoul"}, "Asia/Seoul"), ({"TZ": "America/Lima"}, "America/Lima")],
)
def test_times_on_a_terminal_are_the_persons_own(sqlite_url: str, settings: dict[str, str], zone: str) -> None:
    added = json.loads(start(["memory", "add", "Deploys happen on Tuesday", "--json"], sqlite_url).stdout)
    shown = json.loads(start(["memory", "show", added["ref"], "--json"], sqlite_url).stdout)["memory"]
    moment = datetime.fromisoformat(shown["created_at"])
    here = moment.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M")
    _, lines = Terminal(["memory", "list"], sqlite_url, **settings).ended()
    assert f"changed ({zone})" in lines[0]
    assert here in lines[1]
    for words in (["memory", "show", added["ref"]], ["memory", "history", added["ref"]]):
        _, lines = Terminal(words, sqlite_url, **settings).ended()
        assert any(here in line for line in lines)
        assert sum(zone in line for line in lines) == 1, "named once"
    assert shown["ref"] == added["ref"]
    assert shown["created_at"].endswith("Z")


def test_a_day_that_a_person_names_is_one_of_their_zone(sqlite_url: str) -> None:
    """A key ends at that midnight."""
    start(["key", "create", "codex", "--expires", "2099-01-31"], sqlite_url)
    environment = {**os.environ, "DOLMEN_DATABASE": sqlite_url, "TZ": "Asia/Seoul"}
    run = [sys.executable, "-m", "dolmen", "key"]
    subprocess.run(
        [*run, "create", "gemini", "--expires", "2099-01-31"], env=environment, capture_output=True, check=True
    )
    listed = subprocess.run([*run, "list", "--json"], env=environment, capture_output=True, check=True).stdout
    ends = {key["agent"]: datetime.fromisoformat(key["expires_at"]) for key in json.loads(listed)["keys"]}
    assert (ends["codex"] - ends["gemini"]).total_seconds() == 9 * 3600


def test_a_no_is_a_refusal_and_changes_nothing(sqlite_url: str) -> None:
    ref = json.loads(start(["memory", "add", "Deploys happen on Tuesday", "--json"], sqlite_url).stdout)["ref"]
    terminal = Terminal(["memory", "purge", ref], sqlite_url)
    terminal.until("[y/N]")
    terminal.type("n\n")
    code, lines = terminal.ended()
    assert (code, lines[-1]) == (1, "Nothing was changed.")
    assert start(["memory", "show", ref], sqlite_url).returncode == 0


@pytest.mark.parametrize("keys", ["\x03", "\x04"], ids=["Ctrl-C", "Ctrl-D"])
def test_a_question_that_is_broken_off_ends_with_130_and_not_a_word(sqlite_url: str, keys: str) -> None:
    ref = json.loads(start(["memory", "add", "Deploys happen on Tuesday", "--json"], sqlite_url).stdout)["ref"]
    terminal = Terminal(["memory", "purge", ref], sqlite_url)
    terminal.until("[y/N]: ")
    terminal.type(keys)
    while terminal.quiet():  # a signal just before the process waits for input is noticed with the next one
        terminal.type(keys)
    code, _ = terminal.ended()
    assert code == 130
    assert re.fullmatch(r"\s*(\^C)*\s*", terminal.said.partition("[y/N]: ")[2])
    assert start(["memory", "show", ref], sqlite_url).returncode == 0


def test_work_that_is_broken_off_ends_with_130_and_not_a_word(sqlite_url: str) -> None:
    for n in range(20):
        start(["memory", "add", f"Statement {n} " + "x" * 7000], sqlite_url)
    environment = {**os.environ, "DOLMEN_DATABASE": sqlite_url}
    with subprocess.Popen(
        [sys.executable, "-m", "dolmen", "export"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)  # the pipe is full after a few of them, and the export waits
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.stderr.read().strip() == b""
        assert process.wait(20) == 130


# ------------------------------------------------------------------------------------------------------ standard input
def given(text: bytes, words: list[str], url: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "DOLMEN_DATABASE": url}
    return subprocess.run(
        [sys.executable, "-m", "dolmen", *words], env=environment, input=text, capture_output=True, check=False
    )


def test_a_dash_reads_standard_input_and_what_is_no_utf8_is_refused_with_its_place(sqlite_url: str) -> None:
    stored = given("배포는 화요일\n".encode(), ["memory", "add", "-", "--json"], sqlite_url)
    shown = start(["memory", "show", json.loads(stored.stdout)["ref"], "--json"], sqlite_url)
    assert json.loads(shown.stdout)["memory"]["text"] == "배포는 화요일"
    refused = given(b"first line\ncaf\xe9 is closed\n", ["memory", "add", "-"], sqlite_url)
    assert refused.returncode == 2
    assert b"byte 0xe9 at offset 14, line 2" in refused.stderr
    replaced = given(b"a\x00b", ["memory", "add", "--stdin"], sqlite_url)
    assert replaced.returncode == 0
    assert b"warning: characters that no text can hold" in replaced.stderr


# ---------------------------------------------------------------------------------------------------------------- JSON
@pytest.mark.parametrize(
    "words",
    [
        ["memory", "list", "--limit", "0", "--json"],
        ["memory", "--json", "lst"],
        ["memory", "search", "", "--json"],
        ["memory", "show", "--json"],
        ["key", "create", "x", "--mode", "emperor", "--json"],
        ["serve", "--port", "99999", "--json"],
    ],
    ids=" ".join,
)
def test_a_mistake_on_the_command_line_is_json_too_when_json_was_asked_for(words: list[str], sqlite_url: str) -> None:
    done = start(words, sqlite_url)
    assert (done.returncode, done.stdout) == (2, b"")
    error = json.loads(done.stderr)["error"]
    assert error["code"] == "invalid-argument"
    assert error["message"]
    assert error["fix"]


def test_in_json_a_memory_is_known_by_its_ref_and_a_purge_that_nobody_confirmed_says_json_alone(
    sqlite_url: str,
) -> None:
    ref = json.loads(start(["memory", "add", "Deploys happen on Tuesday", "--json"], sqlite_url).stdout)["ref"]
    [listed] = json.loads(start(["memory", "list", "--json"], sqlite_url).stdout)["memories"]
    assert (listed["ref"], "id" in listed) == (ref, False)
    [found] = json.loads(start(["memory", "search", "Tuesday", "--json"], sqlite_url).stdout)["claims"]
    assert found["ref"] == ref
    refused = start(["memory", "purge", ref, "--json"], sqlite_url)
    assert refused.stdout == b""
    assert "--yes" in json.loads(refused.stderr)["error"]["fix"]


def test_help_is_a_word_too() -> None:
    for words in (["help"], ["help", "memory", "add"]):
        said = start(words, "sqlite:///:memory:")
        assert said.returncode == 0
        assert said.stdout == start([*words[1:], "--help"], "sqlite:///:memory:").stdout


def test_what_a_person_is_told_are_commands_and_not_tools(sqlite_url: str) -> None:
    ref = json.loads(start(["memory", "add", "Deploys happen on Tuesday", "--json"], sqlite_url).stdout)["ref"]
    start(["memory", "forget", ref], sqlite_url)
    refused = start(["memory", "edit", ref, "Deploys happen daily"], sqlite_url)
    assert b"dolmen memory undo REF" in refused.stderr
    assert b"op `restore`" not in refused.stderr
