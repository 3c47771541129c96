"""Whatever both sides do and however often a run is killed: they come together, nothing is lost, nothing is doubled."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dolmen.client.mirror.files import Folder
from dolmen.domain.errors import DolmenError
from dolmen.services.notes.moving import move_note
from dolmen.services.review import apply, reject
from tests.conftest import Engine
from tests.services.conftest import House
from tests.services.mirror.conftest import Pair

_NUMBER = itertools.count()


def word() -> str:
    """A word that nobody ever wrote before."""
    return f"word{next(_NUMBER):06d}x"


def words(text: str) -> set[str]:
    return {each for each in text.split() if each.startswith("word") and each.endswith("x")}


@contextmanager
def paired(house: House) -> Iterator[Pair]:
    """A folder of its own, so that examples do not meet; the notes of the ones before are tombstones."""
    with tempfile.TemporaryDirectory() as place:
        pair = Pair(house, Path(place))
        yield pair
        for id in pair.sources():
            pair.edit(id, "delete_note", reason="done", actor=house.owner)


def said_anywhere(pair: Pair) -> set[str]:
    """Every word that either side still has, now or in its past."""
    kept = set[str]()
    with pair.house.rt.store.read() as tx:
        for note in tx.notes.stream("main"):
            for source in (note.source, *(each.note.source for each in tx.notes.revisions("main", note.id))):
                kept |= words(source)
        for proposal in tx.proposals.select("main", None, None, 100_000):
            kept |= words(str(proposal.payload.get("content")))
    return kept.union(*map(words, pair.files().values()))


def document() -> str:
    return "\n\n".join([f"# {word()}", *(f"{word()} stays." for _ in range(3)), f"- [fact] {word()}"]) + "\n"


# ----------------------------------------------------------------------------------------------------------- both sides
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["new file", "edit file", "append file", "remove file", "rename file",
             "new note", "edit note", "append note", "remove note", "move note",
             "sync", "agree", "refuse"]
        ),
        st.integers(0, 5),
        st.integers(0, 5),
    ),
    min_size=3,
    max_size=16,
)  # fmt: skip


@dataclass
class Play:
    """Does what is drawn, on either side."""

    pair: Pair
    written: set[str] = field(default_factory=set)
    """Words that were in a file or a note at the time of a run."""

    def step(self, what: str, which: int, place: int) -> None:
        kind, _, side = what.partition(" ")
        if what == "sync":
            self.sync()
        elif what in ("agree", "refuse"):
            self._decide(what)
        elif side == "file":
            self._file(kind, which, place)
        else:
            self._note(kind, which, place)

    def sync(self) -> None:
        for text in (*self.pair.files().values(), *self.pair.sources().values()):
            self.written |= words(text)
        self.pair.sync(force=True)
        assert self.written <= said_anywhere(self.pair)

    def _decide(self, what: str) -> None:
        for proposal in self.pair.proposals()[:1]:
            try:
                decide = apply if what == "agree" else reject
                decide(self.pair.house.rt, self.pair.house.owner, proposal)
            except DolmenError as error:
                if error.code not in ("conflict", "gone"):
                    raise

    def _file(self, kind: str, which: int, place: int) -> None:
        files = list(self.pair.files())
        if kind == "new":
            self.pair.put(f"{'sub/' * (place % 2)}{word()}.md", document())
            return
        if not files:
            return
        path = files[which % len(files)]
        if kind == "remove":
            (self.pair.root / path).unlink()
        elif kind == "rename":
            (self.pair.root / path).rename(self.pair.root / f"{word()}.md")
        elif kind == "append":
            self.pair.put(path, self.pair.text(path) + f"\n{word()} by a person.\n")
        else:
            self.pair.put(path, edited(self.pair.text(path), place))

    def _note(self, kind: str, which: int, place: int) -> None:
        pair, ids = self.pair, sorted(self.pair.sources())
        if kind == "new":
            pair.new(document(), permalink=f"agents/{word()}")
            return
        if not ids:
            return
        id = ids[which % len(ids)]
        if kind == "remove":
            pair.edit(id, "delete_note", reason="x")
        elif kind == "move":
            move_note(pair.house.rt, pair.house.agent, id, f"moved/{word()}")
        elif kind == "append":
            pair.edit(id, "append", f"{word()} by an agent.")
        else:
            note = pair.note(id)
            pair.edit(id, "replace_note", edited(note.text, place), expected_sha=note.sha)


def edited(text: str, place: int) -> str:
    """The text with one of its lines in other words."""
    lines = text.splitlines(keepends=True) or [""]
    full = [n for n, line in enumerate(lines) if line.strip()] or [0]
    at = full[place % len(full)]
    lines[at] = f"{word()} instead.\n"
    return "".join(lines)


@pytest.mark.slow
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_both_sides_come_together_whatever_they_do(house: House, steps: list[tuple[str, int, int]]) -> None:
    with paired(house) as pair:
        play = Play(pair)
        for step in steps:
            play.step(*step)
        play.sync()
        for _ in range(20):
            if not pair.proposals():
                break
            play.step("agree", 0, 0) if len(pair.proposals()) % 2 else play.step("refuse", 0, 0)
            play.sync()
        play.sync()
        pair.agree()
        assert len({each.place for each in pair.notes.standing()}) == len(pair.files())


# ------------------------------------------------------------------------------------------------------------ each step
class Killed(BaseException):
    """As `kill -9` at this very moment: nothing after it is done."""


@dataclass
class Fate:
    """Ends a run before or after the n-th thing that it does to either side, and keeps the folder as it was then."""

    pair: Pair
    left: int
    place: Path
    steps: int = 0

    def passes(self) -> None:
        self.steps += 1
        if self.left == self.steps:
            shutil.copytree(self.pair.root, self.place, symlinks=True)
            raise Killed


def mortal(fate: Fate, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets fate strike around every write to the vault, the folder and the mirror's own files."""
    from dolmen.client.mirror import state as keeping
    from dolmen.services.notes.mirroring import Mirroring

    def struck(whole: Any, name: str) -> None:
        real = getattr(whole, name)

        def doing(*given: Any, **more: Any) -> Any:
            fate.passes()
            done = real(*given, **more)
            fate.passes()
            return done

        monkeypatch.setattr(whole, name, doing)

    for name in ("create", "change", "delete", "revive", "refile", "propose", "withdraw"):
        struck(Mirroring, name)
    for name in ("write", "remove", "rename"):
        struck(Folder, name)
    for name in ("flush", "save"):
        struck(keeping.State, name)


def busy(pair: Pair, run: str) -> None:
    """One of everything waits to be done. Addresses that a moved note had stay its own, so each run has its names."""
    for name in "abcdefghi":
        pair.put(f"{run}/{name}.md", f"# {name}\n\nFirst {name}.\n\nThen {name}.\n\nLast {name}.\n")
    pair.sync()
    for name in "acdi":
        pair.put(f"{run}/{name}.md", pair.text(f"{run}/{name}.md").replace("First", word()))
    for name, place in (("b", "First"), ("c", "Last"), ("d", "First")):
        pair.rewrite(f"{run}/{name}", place, word())
    for name in "ei":
        (pair.root / run / f"{name}.md").rename(pair.root / run / f"{name}2.md")
    move_note(pair.house.rt, pair.house.owner, f"{run}/f", f"{run}/moved/f")
    (pair.root / run / "g.md").unlink()
    pair.edit(f"{run}/h", "delete_note", reason="old")
    pair.put(f"{run}/new.md", f"{word()}\n")
    pair.new(f"{word()}", permalink=f"{run}/by-agent")


LEFT = ["a.md", "b.md", "by-agent.md", "c.md", "d.md", "e2.md", "i2.md", "moved/f.md", "new.md"]
"""What is there when all of that was done."""


@pytest.mark.slow
def test_a_run_may_end_at_any_step_and_the_next_one_makes_it_whole(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    ends, at = 0, 0
    while True:
        at += 1 if engine == "sqlite" else 4  # the steps are the folder's: the other engine shows that it is no other
        mine = Pair(pair.house, pair.root.parent / f"before{at}")
        mine.root.mkdir()
        busy(mine, f"run-{at}")
        written = set[str]().union(*map(words, (*mine.files().values(), *mine.sources().values())))
        fate = Fate(mine, at, pair.root.parent / f"after{at}")
        with monkeypatch.context() as patched:
            mortal(fate, patched)
            try:
                mine.sync()
            except Killed:
                ends += 1
        if fate.left > fate.steps:
            break
        left = Pair(pair.house, fate.place)
        left.sync()
        assert written <= said_anywhere(left), f"step {at}"
        assert len(left.proposals()) == 1, f"step {at}"
        reject(pair.house.rt, pair.house.owner, left.proposals()[0])
        left.sync()
        assert sorted(left.files()) == [f"run-{at}/{name}" for name in LEFT]
        left.agree()
        places = {each.place for each in left.notes.standing()}
        assert places == set(left.files()), f"step {at}: other machines call it so"
        for id in left.sources():
            left.edit(id, "delete_note", reason="done", actor=pair.house.owner)
    assert ends >= (30 if engine == "sqlite" else 8)


def test_an_edit_back_to_an_earlier_version_outlives_a_killed_run(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    pair.put("a.md", "One.\n")
    pair.sync()
    pair.edit("a", "append", "The agent goes on.")
    pair.sync()
    pair.put("a.md", "One.\n")
    fate = Fate(pair, 3, pair.root.parent / "after")  # what is about to be written is on the disk, the note is not
    with monkeypatch.context() as patched:
        mortal(fate, patched)
        with pytest.raises(Killed):
            pair.sync()
    assert "goes on" in pair.note("a").text
    left = Pair(pair.house, fate.place)
    assert left.sync().done == [("change", "a.md")]
    assert left.text("a.md") == "One.\n"
    left.agree()
