"""`dolmen review` at a terminal: one proposal after the other, with what helps to decide."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dolmen.app import open_app
from dolmen.services.accounts import local_actor
from dolmen.services.notes.creating import create_note
from dolmen.services.requests.notes import NewNote
from dolmen.settings import load
from tests.cli.test_start import start
from tests.cli.test_terminal import Terminal

pytestmark = pytest.mark.slow


@pytest.fixture
def waiting(sqlite_url: str, tmp_path: Path) -> str:
    """A store where three preferences of an agent and a contradiction wait."""
    texts = ["Answer in Korean.", "Use tabs, not spaces.", "Explain before you change."]
    lines = [{"content": text, "kind": "preference"} for text in texts]
    program = (
        "import json,sys\n"
        "from dolmen.app import open_app\n"
        "from dolmen.services.accounts import local_actor\n"
        "from dolmen.services.remember import remember\n"
        "from dolmen.services.requests import NewMemory\n"
        "from dolmen.settings import load\n"
        "with open_app(load({'database': sys.argv[1]}).settings, models=False) as app:\n"
        "    actor = local_actor(app.runtime, agent='codex', mode='write')\n"
        "    remember(app.runtime, actor, [NewMemory(**each) for each in json.loads(sys.argv[2])])\n"
    )
    subprocess.run([sys.executable, "-c", program, sqlite_url, json.dumps(lines)], check=True)
    for port in (8080, 9090):
        start(["memory", "add", f"The port of the API is {port}.", "--user", "--kind", "fact"], sqlite_url)
    start(["consolidate"], sqlite_url)
    return sqlite_url


class Sitting(Terminal):
    """A person who answers each question when it has been asked."""

    heard = 0

    def answer(self, question: str, keys: str) -> None:
        """Types the keys after the next time that this is asked. A question's last space comes from who reads them."""
        while question not in self.said[self.heard :] and self._read():
            pass
        assert question in self.said[self.heard :], self.said
        self.heard = len(self.said)
        self.type(keys)

    def interrupt(self) -> None:
        """Ctrl-C, again where the first came in the moment before Python listens to it."""
        self.type("\x03")
        while self.process.poll() is None:
            if select.select([self._master], [], [], 5)[0]:
                if not self._read():
                    break
            else:
                self.type("\x03")


CHOICE, YES, WHY = "[?], then Enter > ", "]: ", "may be empty): "


def memories(url: str) -> dict[str, dict[str, Any]]:
    listed = start(["memory", "list", "--all", "--status", "any", "--json"], url).stdout
    return {each["text"]: each for each in json.loads(listed)["memories"]}


def proposals(url: str, status: str = "pending") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(start(["review", "list", "--status", status, "--json"], url).stdout)[
        "proposals"
    ]
    return found


def test_a_person_approves_edits_rejects_and_skips(waiting: str, tmp_path: Path) -> None:
    """C-136, C-137: what was approved is trusted as the person's word, an edited text as they wrote it."""
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import pathlib, sys\n"
        "file = pathlib.Path(sys.argv[1])\n"
        "file.write_text(file.read_text().replace('tabs', 'two tabs'))\n"
    )
    person = Sitting(["review"], waiting, EDITOR=f"{sys.executable} {editor}", VISUAL="")
    person.until("4 wait for you: 3 preferences, 1 conflict")
    for question, keys in (
        (CHOICE, "?\n"), (CHOICE, "a\n"), (CHOICE, "e\n"), (YES, "y\n"), (CHOICE, "r\n"), (WHY, "not mine\n"),
        (CHOICE, "s\n"),
    ):  # fmt: skip
        person.answer(question, keys)
    code, lines = person.ended()
    assert "  A  approve all of this group that are left" in lines
    assert "4 of 4  conflict · fact · user" in lines
    assert any("contradicts a newer memory" in line for line in lines)
    assert code == 0
    assert lines[-1] == "2 approved, 1 rejected, 1 skipped"
    stored = memories(waiting)
    assert (stored["Answer in Korean."]["status"], stored["Answer in Korean."]["trust"]) == ("active", "user")
    assert stored["Use two tabs, not spaces."]["trust"] == "user"
    assert "Use tabs, not spaces." not in stored
    rejected = stored["Explain before you change."]
    assert (rejected["status"], rejected["verification"]) == ("deleted", "rejected")
    assert [each["note"] for each in proposals(waiting, "rejected")] == ["not mine"]
    assert [each["group"] for each in proposals(waiting)] == ["conflict"]
    assert stored["The port of the API is 8080."]["status"] == "active"


def test_a_word_that_stands_for_no_choice_decides_nothing(waiting: str) -> None:
    """C-136: `abort` is no approval because it begins with an a."""
    person = Sitting(["review"], waiting)
    for keys in ("abort\n", "all\n", "Rather not\n", "remove\n", "skip\n", "app\n", "quit\n"):
        person.answer(CHOICE, keys)
    code, lines = person.ended()
    assert (code, lines[-1]) == (0, "1 skipped, 1 approved, 2 left")
    assert sum(line == "  q  stop here; what was decided stays decided" for line in lines) == 4


def test_all_of_a_group_are_decided_together_and_the_others_are_still_asked(waiting: str) -> None:
    person = Sitting(["review"], waiting)
    person.answer(CHOICE, "A\n")
    person.answer("Approve all 3 preferences that wait? [y/N]: ", "y\n")
    person.answer(CHOICE, "a\n")
    code, lines = person.ended()
    assert (code, lines[-1]) == (0, "4 approved")
    assert proposals(waiting) == []
    stored = memories(waiting)
    assert {each["status"] for text, each in stored.items() if "port" not in text} == {"active"}
    assert stored["The port of the API is 8080."]["status"] == "superseded"


def test_one_group_alone_is_walked_and_stopped_at_any_time(waiting: str) -> None:
    person = Sitting(["review", "--only", "preference"], waiting)
    person.until("3 wait for you: 3 preferences")
    person.answer(CHOICE, "R\n")
    person.answer(WHY, "no\n")
    person.answer("Reject all 3 preferences that wait? [y/N]: ", "n\n")
    person.answer(CHOICE, "q\n")
    code, lines = person.ended()
    assert (code, lines[-1]) == (0, "3 left")
    assert len(proposals(waiting)) == 4
    person = Sitting(["review"], waiting)
    person.until(CHOICE)
    person.interrupt()
    assert person.ended()[0] == 130


def test_nothing_to_decide_is_said(sqlite_url: str) -> None:
    start(["memory", "add", "Deploys happen on Tuesday"], sqlite_url)
    assert Terminal(["review"], sqlite_url).ended() == (0, ["Nothing waits for you."])


def test_where_nobody_sits_it_lists(waiting: str) -> None:
    assert len(json.loads(start(["review", "--json"], waiting).stdout)["proposals"]) == 4
    assert len(start(["review", "--only", "conflict"], waiting).stdout.splitlines()) == 1
    done = start(["review", "apply", "--all", "preference", "--json"], waiting)
    assert {each["status"] for each in json.loads(done.stdout)["proposals"]} == {"applied"}
    assert [each["group"] for each in proposals(waiting)] == ["conflict"]


def test_a_proposed_note_is_listed_by_what_it_states_not_by_its_front_matter(sqlite_url: str) -> None:
    with open_app(load({"database": sqlite_url}).settings, models=False) as app:
        agent = local_actor(app.runtime, agent="codex", mode="suggest")
        create_note(app.runtime, agent, NewNote("We chose session cookies over JWT.", kind="decision"))
    listed = start(["review", "list"], sqlite_url).stdout.decode().rstrip()
    assert listed.endswith("pending\tWe chose session cookies over JWT."), listed


def test_a_memory_that_waits_is_approved_by_the_id_that_its_agent_was_told(waiting: str) -> None:
    """C-136, C-346."""
    items = json.loads(start(["review", "list", "--json", "--only", "preference"], waiting).stdout)["proposals"]
    first, second, third = (item["ref"] for item in items)
    assert start(["memory", "approve", first], waiting).returncode == 0
    assert start(["review", "apply", second[-12:]], waiting).returncode == 0
    assert start(["memory", "reject", third, "--reason", "no"], waiting).returncode == 0
    listed = json.loads(start(["review", "list", "--json", "--only", "preference", "--status", "any"], waiting).stdout)
    assert [item["status"] for item in listed["proposals"]] == ["applied", "applied", "rejected"]
