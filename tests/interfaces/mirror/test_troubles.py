"""A mirror on another machine when answers are lost, the server dies, there is too much, or the mirror is killed."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlsplit

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.values import Bounds
from dolmen.interfaces.http.options import HttpOptions
from dolmen.services import accounts, review
from dolmen.services.bounds import limit_key
from tests.conftest import NewStore
from tests.interfaces.conftest import Serve, Served, serving
from tests.interfaces.mirror.conftest import Far, Machine, edit, listening, new, note, sources

pytestmark = pytest.mark.slow


@contextmanager
def losing(target: str, lost: set[int]) -> Iterator[tuple[str, list[str]]]:
    """An address that hands requests on and loses the answers to those with these numbers, and what was asked."""
    asked: list[str] = []
    host = urlsplit(target).netloc

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"{self.command} {self.path}")
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            connection = http.client.HTTPConnection(host, timeout=20)
            connection.request(self.command, self.path, body or None, {**dict(self.headers), "Host": host})
            answer = connection.getresponse()
            text = answer.read()
            connection.close()
            self.close_connection = True
            if len(asked) - 1 in lost:
                return
            self.send_response(answer.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_POST = do_GET

        def log_message(self, *_: Any) -> None:
            pass

    with listening(Handler) as base:
        yield f"{base}/mcp", asked


def filled(far: Far, number: int) -> None:
    for each in range(number):
        far.put(f"folder {each % 7}/note {each}.md", f"# Note {each}\n\nWhat is known of {each}.\n")


@pytest.mark.parametrize("mode", ["write", "suggest"])
def test_an_answer_that_is_lost_doubles_nothing(server: Served, machine: Machine, mode: str) -> None:
    """Every second answer goes astray; each write is done once."""
    far = machine(server, mode=mode)
    filled(far, 120)
    with losing(server.base, set(range(1, 400, 2))) as (far.url, asked):
        far.sync()
        far.put("folder 0/note 0.md", "# Note 0\n\nIt is known better.\n")
        (far.root / "folder 1/note 1.md").rename(far.root / "moved.md")
        (far.root / "folder 2/note 2.md").unlink()
        far.sync()
        far.sync()
    far.url = ""
    assert sum("write" in each for each in asked) > 4
    if mode == "suggest":
        waiting = review.pending(server.rt, server.owner())
        assert len(waiting) == len(far.files()) == 119
        for item in waiting:
            review.apply(server.rt, server.owner(), item.id)
        far.sync()
    assert sorted(sources(server).values()) == sorted(far.files().values())
    assert len(sources(server)) == 119


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_server_that_dies_in_the_middle_and_comes_back_finds_the_mirror_waiting(
    engine: str, new_store: NewStore, machine: Machine
) -> None:
    url = new_store(engine)
    with ExitStack() as first, ExitStack() as second:
        served = first.enter_context(serving(url, HttpOptions(), embedder="none"))
        far = machine(served)
        filled(far, 110)
        port = urlsplit(served.base).port or 0
        died: list[int] = []

        def progress(done: int, total: int | None) -> None:
            if not died:
                died.append(done)
                first.close()

        def back() -> None:
            if died and not second._exit_callbacks:  # type: ignore[attr-defined]  # whether it was started
                far.served = second.enter_context(serving(url, HttpOptions(), port, embedder="none"))

        far.meanwhile = back
        report = far.sync(progress=progress)
        assert report.counts["create"] == 110
        assert far.waited
        assert sorted(sources(far.served).values()) == sorted(far.files().values())
        assert far.sync().done == []


def test_where_no_server_answers_it_says_so_and_goes_on_another_time(serve: Serve, machine: Machine) -> None:
    served = serve()
    far = machine(served)
    far.put("a.md", "One.\n")
    far.url = "http://127.0.0.1:9/mcp"
    with pytest.raises(DolmenError) as error:
        far.sync()
    assert (error.value.code, far.waited) == ("unavailable", [1.0, 2.0, 4.0])
    assert "http://127.0.0.1:9/mcp" in error.value.message
    far.url = served.base + "/somewhere/else/mcp"
    with pytest.raises(DolmenError) as error:
        far.sync()
    assert error.value.code == "configuration"
    far.url = ""
    assert far.sync().counts["create"] == 1


@pytest.mark.parametrize(("status", "waited"), [(500, []), (502, [1.0, 2.0, 4.0])])
def test_a_proxy_that_answers_with_a_page_is_named_and_asked_again_where_that_helps(
    serve: Serve, machine: Machine, status: int, waited: list[float]
) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "6")
            self.end_headers()
            self.wfile.write(b"<html>")

        def log_message(self, *_: Any) -> None:
            pass

    far = machine(serve())
    with listening(Handler) as far.url, pytest.raises(DolmenError) as error:
        far.sync()
    assert (error.value.code, far.waited) == ("unavailable", waited)
    assert f"({status})" in error.value.message


def test_a_first_mirror_of_three_hundred_notes_stays_below_sixty_requests(server: Served, machine: Machine) -> None:
    """C-342: sixty a minute, a thousand an hour."""
    far, other = (machine(server, bounds=Bounds(per_minute=60, per_hour=1000, at_once=4)) for _ in range(2))
    filled(far, 300)
    assert far.sync().counts["create"] == 300
    assert other.sync().counts["add"] == 300
    assert far.waited == other.waited == []
    assert far.files() == other.files()


def test_a_mirror_waits_as_long_as_the_server_says(serve: Serve, machine: Machine) -> None:
    served = serve()
    far = machine(served, bounds=Bounds(per_minute=3))
    filled(far, 120)
    [key] = [each for each in accounts.keys(served.rt, served.owner()) if each.hint == far.key[-4:]]
    far.meanwhile = lambda: limit_key(served.rt, served.owner(), key.id, Bounds(per_minute=0))
    assert far.sync().counts["create"] == 120
    assert len(far.waited) == 1
    assert 50 <= far.waited[0] <= 60
    assert far.said == [f"the server asks to wait {far.waited[0]:.0f} s: More than 3 requests per minute"]


def test_one_file_that_is_refused_leaves_the_others_alone(serve: Serve, machine: Machine) -> None:
    """C-300; and a server that takes less at once gets less at once."""
    served = serve(body_limit=20_000)
    far = machine(served)
    filled(far, 60)
    far.put(
        "secret.md",
        "The key is AKIAIOSFODNN7EXAMPLQ and aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYzzzzKEYQ\n",
    )
    far.put("long.md", "Very long. " * 5_000)
    done = far.sync()
    assert {path: error.code for path, error in done.refused.items()} == {
        "secret.md": "secret-detected", "long.md": "too-large"
    }  # fmt: skip
    assert done.counts["create"] == 60


def test_the_mirrors_refusals_have_a_code_a_message_and_a_fix(server: Served) -> None:
    id = "0" * 8 + "-0000-7000-8000-" + "0" * 12
    wrong: list[tuple[str, Any, int]] = [
        ("/read", {"notes": "x"}, 400),
        ("/read", {"notes": [1]}, 400),
        ("/read", {"notes": [id] * 501}, 413),
        ("/read", {"sources": [{"id": id, "sha": "x", "after": "1"}]}, 400),
        ("/write", [], 400),
        ("/write", {"writes": [{"op": "purge", "id": id}]}, 400),
        ("/write", {"writes": [{"op": "create", "id": id, "agent": "ada"}]}, 400),
        ("/write", {"writes": [{"op": "delete", "id": id, "seen": "0" * 64}] * 101}, 413),
        ("/write", {"more": 1}, 400),
        ("", {}, 405),
    ]
    for path, body, status in wrong:
        answer = server.post(body, f"/api/v1/mirror{path}")
        assert answer.status_code == status, answer.text
        assert set(answer.json()["error"]) == {"code", "message", "fix"}
    single = [
        ({"op": "create", "id": "\0", "path": "a.md"}, "invalid-argument"),
        ({"op": "create", "id": id}, "invalid-argument"),
        ({"op": "create", "id": id, "path": "a\0.md"}, "invalid-argument"),
        ({"op": "change", "id": id, "seen": "\0"}, "invalid-argument"),
        ({"op": "delete", "id": id, "seen": "0" * 64}, "not-found"),
        ({"op": "revive", "id": id}, "gone"),
        ({"op": "refile", "id": id, "path": "a.md"}, "not-found"),
    ]
    answer = server.post({"writes": [write for write, _ in single]}, "/api/v1/mirror/write")
    assert [each["error"]["code"] for each in answer.json()["results"]] == [code for _, code in single]
    odd = {"notes": ["\0", id], "sources": [{"id": "\0", "sha": "\0"}], "proposals": ["\0", id]}
    found = server.post(odd, "/api/v1/mirror/read").json()
    assert found == {"notes": [None, None], "sources": [None], "proposals": ["refused", "refused"], "purged": []}
    unlisted = server.http.get(f"{server.base}/api/v1/mirror/notes?after=%00")
    assert (unlisted.status_code, unlisted.json()["error"]["code"]) == (410, "gone")


NOTE = "01890000-0000-7000-8000-000000000000"
STANDING = {"id": NOTE, "version": 1, "changed_at": 1, "place": "../../escaped.md", "was_file": True}
STATE = {"standing": STANDING, "source": "Words.\n", "sha": "0" * 64, "live": True, "here": True}


@contextmanager
def claiming(standing: Any, state: Any) -> Iterator[str]:
    """A server that may say anything."""
    answers = {
        "/api/v1/mirror": {"vault": "v", "scope": "user", "mode": "write", "newest": ""},
        "/api/v1/mirror/notes": {"notes": [standing], "next": None},
        "/api/v1/mirror/read": {"notes": [state], "sources": [], "proposals": []},
    }

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            text = json.dumps(answers[self.path.partition("?")[0]]).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_POST = do_GET

        def log_message(self, *_: Any) -> None:
            pass

    with listening(Handler) as base:
        yield f"{base}/mcp"


@pytest.mark.parametrize(
    ("standing", "state"),
    [
        ({**STANDING, "id": "a/../../../../escaped"}, STATE),
        ({**STANDING, "id": 1}, STATE),
        ({**STANDING, "place": None}, STATE),
        ({"id": NOTE}, STATE),
        ("note", STATE),
        (STANDING, {**STATE, "source": ["Words."]}),
        (STANDING, {**STATE, "source": "\ud800"}),
        (STANDING, {}),
        (STANDING, "Words."),
    ],
)
def test_a_server_that_answers_with_anything_gets_no_file_written(
    serve: Serve, machine: Machine, standing: Any, state: Any
) -> None:
    far = machine(serve())
    with claiming(standing, state) as far.url, pytest.raises(DolmenError) as error:
        far.sync()
    assert error.value.code == "configuration"
    assert far.files() == {}


def test_a_server_gets_no_file_written_outside_of_the_folder(serve: Serve, machine: Machine) -> None:
    far = machine(serve())
    with claiming(STANDING, STATE) as far.url:
        far.sync()
    assert far.files() == {f"escaped-{NOTE[-12:]}.md": "Words.\n"}
    assert not list(far.root.parent.glob("*.md"))


RESTLESS = """
import sys
from pathlib import Path
from dolmen.client.endpoint import Endpoint
from dolmen.client.mirror import open_mirror
from dolmen.client.mirror.served import ServedVault
from dolmen.client.mirror.wire import Wire

vault = ServedVault(Wire(Endpoint(sys.argv[1], sys.argv[2], "mirror")), "user")
id, scope = vault.about()
with open_mirror(Path(sys.argv[3]), vault, vault_id=id, scope=scope) as mirror:
    print("ready", flush=True)
    while True:
        mirror.sync(force=True)
"""
KILLS = 8


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_mirror_that_is_killed_again_and_again_loses_and_doubles_nothing(
    engine: str, serve: Serve, machine: Machine
) -> None:
    """B056: a person and an agent write all the time; the process dies at moments that nobody chose."""
    server = serve(engine, rate_limit=0)
    chance = random.Random(20261201)
    far = machine(server)
    said: set[str] = set()
    for number in range(60):
        far.put(f"{number}.md", f"# {number}\n\nThe first of {number}.\n")
    for number in range(60, 70):
        new(server, f"# {number}\n\nThe first of {number}.\n", permalink=str(number))
    for round in range(KILLS):
        command = [sys.executable, "-c", RESTLESS, server.url, far.key, str(far.root)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"})
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        for path in chance.sample(sorted(far.files()), 6):
            file, word = far.root / path, f"p{round}of{path}"
            file.write_bytes(f"{file.read_bytes().decode()}\nA person says {word}.\n".encode())
            said.add(word)
        for id in chance.sample(sorted(sources(server)), 3):
            edit(server, id, "prepend", f"An agent says a{round}of{id}.")
            said.add(f"a{round}of{id}")
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=chance.uniform(0, 0.5))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    for _ in range(5):
        far.sync(force=True)
        for item in review.pending(server.rt, server.owner()):
            review.reject(server.rt, server.owner(), item.id)
    assert far.sync().done == []
    assert sorted(far.files().values()) == sorted(sources(server).values())
    first = [number for number in range(70) for text in far.files().values() if f"The first of {number}." in text]
    assert sorted(first) == list(range(70)), "no note is there twice, and none went"
    everything = "\n".join([*far.files().values(), *past(server)])
    assert {word for word in said if word not in everything} == set()


def past(server: Served) -> Iterator[str]:
    vault = server.owner().vault
    with server.rt.store.read() as tx:
        for each in tx.notes.stream(vault):
            yield from (revision.note.source for revision in tx.notes.revisions(vault, each.id))
        for proposal in tx.proposals.select(vault, None, None, 100_000):
            yield str(proposal.payload.get("content"))


def test_the_same_note_again_is_the_same_note_and_another_one_is_refused(server: Served, machine: Machine) -> None:
    far = machine(server)
    with far.vault() as vault:
        vault.about()
        [id] = vault.new_ids(1)
        first = vault.create(id, "a.md", "One.\n")
        assert vault.create(id, "a.md", "One.\n") == first
        changed = vault.change(id, "Two.\n", first.sha)
        assert vault.change(id, "Two.\n", first.sha) == changed
        assert vault.create(id, "a.md", "One.\n").standing.version == 2, "it was made, and changed since"
        with pytest.raises(DolmenError) as error:
            vault.create(id, "a.md", "Something else.\n")
        assert error.value.code == "conflict"
        gone = vault.delete(id, changed.sha)
        assert vault.delete(id, changed.sha) == gone
        again = vault.revive(id)
        assert vault.revive(id) == again
        assert again.live
    assert note(server, "a").text == "Two.\n"
