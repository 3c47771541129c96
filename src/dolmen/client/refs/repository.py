"""A repository at the commit that is checked out, as git tells it. Nothing is fetched, locked or written."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dolmen.client.git import call, filters_off

PATIENCE = 10.0
"""Seconds that one question to git may take where nothing else limits it."""
_PATHS = 100
"""Paths on one command line; of more, all are asked for."""
_OWN_DIFF = ("--no-ext-diff", "--no-textconv")
_LARGEST = 1 << 20
ABSENT = 1 << 62
"""The size of a file whose contents are not here, in a partial clone: too large to be read."""
_FEW = 8
"""Words that git is asked for one by one."""
_AT_ONCE = 200
"""Files that are read together."""
_PAIRS = 400
"""Files on each side that git compares with each other to find renames that were changed, too."""
_LINK = "120000"
_WORD = re.compile(rb"[A-Za-z_$][\w$]*")
_ELSEWHERE = (b"symlink", b"dangling", b"loop", b"notdir")
"""How git answers for a link that leads to no file of the commit; the place stands on a line of its own."""


class OutOfTime(Exception):
    """The time that was given is over."""


@dataclass(frozen=True, slots=True)
class Clock:
    """When to stop, on the clock of `time.monotonic`."""

    end: float

    def left(self) -> float:
        """Seconds left.

        Raises:
            OutOfTime
        """
        seconds = self.end - time.monotonic()
        if seconds <= 0:
            raise OutOfTime
        return seconds


@dataclass(frozen=True, slots=True)
class Entry:
    """A file at a commit."""

    blob: str
    size: int


@dataclass(slots=True)
class Repository:
    """One checkout. Every question may raise `OutOfTime`."""

    root: Path
    head: str
    clock: Clock
    clean: bool = False
    """Changes that are not committed do not matter."""
    _contents: dict[str, bytes | None] = field(default_factory=dict)
    _dirty: dict[str, bool] = field(default_factory=dict)
    _tree: dict[str, Entry] | None = None
    _submodules: tuple[str, ...] | None = None
    _renames: dict[str, dict[str, str]] = field(default_factory=dict)
    _partial: bool | None = None
    _filters_off: dict[str, str] | None = None

    def entries(self, paths: Iterable[str], commit: str = "") -> dict[str, Entry]:
        """Files at the commit (by default the one that is checked out), symbolic links inside it followed; what is not
        there, or is no file, is absent."""
        wanted = [path for path in dict.fromkeys(paths) if "\n" not in path]
        found: dict[str, Entry] = {}
        lines = iter(self._batch("--batch-check", [f"{commit or self.head}:{path}" for path in wanted]).split(b"\n"))
        for path in wanted:
            words = next(lines, b"").split(b" ")
            if words[0] in _ELSEWHERE:
                next(lines, b"")
            elif len(words) == 3 and words[1] == b"blob":
                found[path] = Entry(words[0].decode(), int(words[2]))
        return found

    def contents(self, paths: Iterable[str]) -> dict[str, bytes | None]:
        """The source of files; None for what is not there or too large to be read."""
        wanted = list(dict.fromkeys(paths))
        new = [path for path in wanted if path not in self._contents]
        entries = self.entries(new)
        small = [path for path in new if path in entries and entries[path].size <= _LARGEST]
        self._contents.update(dict.fromkeys(new))
        self._contents.update(zip(small, self._blobs([entries[path] for path in small])))
        return {path: self._contents[path] for path in wanted}

    def dirty(self, paths: Iterable[str]) -> set[str]:
        """Those of the files that have uncommitted changes, or are there without ever having been committed."""
        wanted = set() if self.clean else set(paths)
        new = sorted(wanted - set(self._dirty))
        committed = self.entries(new)
        asked = ("--porcelain=v1", "-z", "--untracked-files=no", "--ignore-submodules=all", "--no-renames")
        some = ("--", *new) if len(new) <= _PATHS else ()
        said = self._say("--literal-pathspecs", "status", *asked, *some, settings=self._unfiltered()) if new else b""
        touched = {entry[3:] for entry in said.decode("utf-8", "surrogateescape").split("\0") if len(entry) > 3}
        for path in new:
            self._dirty[path] = path in touched or (path not in committed and (self.root / path).exists())
        return {path for path in wanted if self._dirty[path]}

    def contained(self, commits: Iterable[str]) -> set[str]:
        """Those of the commits that the history of the one that is checked out contains, as far as it is here."""
        wanted = set(commits)
        known = self._known(wanted)
        if not known:
            return set()
        asked = "\n".join([*sorted(known), f"^{self.head}", ""]).encode()
        outside = set(self._say("rev-list", "--stdin", given=asked).decode().split())
        return {commit for commit, id in known.items() if id not in outside}

    def ahead(self, commits: Iterable[str]) -> set[str]:
        """Those of the commits whose history contains the one that is checked out, and that are newer; no such that was
        dropped since, which no branch, tag or worktree here leads to any more."""
        known = self._known(set(commits))
        newer = {commit: id for commit, id in known.items() if id != self.head}
        after = {commit for commit, id in newer.items() if self._fine("merge-base", "--is-ancestor", self.head, id)}
        return {commit for commit in after if not self._say("rev-list", "-1", newer[commit], "--not", "--all")}

    def submodules(self) -> tuple[str, ...]:
        """Folders that belong to other repositories."""
        if self._submodules is None:
            self._submodules = ()
            if self.entries([".gitmodules"]):
                place = ("config", "-z", "--blob", f"{self.head}:.gitmodules")
                said = self._say(*place, "--get-regexp", r"^submodule\..*\.path$", fails=True)
                lines = said.decode("utf-8", "replace").split("\0")
                self._submodules = tuple(line.partition("\n")[2] for line in lines if "\n" in line)
        return self._submodules

    def tree(self) -> Mapping[str, Entry]:
        """Every file."""
        if self._tree is None:
            said = self._say("ls-tree", "-r", "-l", "-z", "--full-tree", self.head).decode("utf-8", "surrogateescape")
            self._tree = {}
            for line in said.split("\0")[:-1]:
                facts, _, path = line.partition("\t")
                mode, kind, blob, size = facts.split()
                if kind == "blob" and mode != _LINK:
                    self._tree[path] = Entry(blob, int(size) if size.isdigit() else ABSENT)
        return self._tree

    def partial(self) -> bool:
        """Whether the contents of files may not be here, in a clone that gets them only when they are needed."""
        if self._partial is None:
            asked = ("config", "--get-regexp", r"^(extensions\.partialclone|remote\..*\.promisor)$")
            self._partial = self._fine(*asked)
        return self._partial

    def mentioning(self, names: Collection[str], within: Callable[[str], bool]) -> dict[str, list[str]]:
        """Files that have each of the words, by the word; only those whose path is `within`."""
        found: dict[str, list[str]] = {name: [] for name in names}
        if len(found) <= _FEW:
            for name in found:
                asked = ("--no-textconv", "-l", "-w", "-F", "-I", "-z", "-e", name, self.head, "--")
                said = self._say("grep", *asked, fails=True)
                paths = [place.partition(":")[2] for place in said.decode("utf-8", "surrogateescape").split("\0")]
                found[name] = [path for path in paths if path and within(path)]
            return found
        # To ask git for many words at once takes it ten times as long as to read everything here.
        read = [(path, entry) for path, entry in self.tree().items() if within(path) and entry.size <= _LARGEST]
        for start in range(0, len(read), _AT_ONCE):
            some = read[start : start + _AT_ONCE]
            for (path, _), content in zip(some, self._blobs([entry for _, entry in some])):
                for word in {word.decode() for word in _WORD.findall(content)} & found.keys():
                    found[word].append(path)
        return found

    def renamed(self, path: str, since: str) -> str | None:
        """Where a file that was at a path at an earlier commit is now, as far as git sees it; None when it is gone."""
        if since not in self._renames:  # all at once, when a whole folder was moved
            asked = (*_OWN_DIFF, "-M", f"-l{_PAIRS}", "--diff-filter=R", "--name-status", "-z")
            self._renames[since] = _moves(self._say("diff", *asked, since, self.head))
        return self._renames[since].get(path) or self._renamed_by_steps(path, since)

    def _renamed_by_steps(self, path: str, since: str) -> str | None:
        """The same through every commit in between, for what was changed more than a little on the way."""
        seen = {path}
        for _ in range(10):
            said = self._say(
                "--literal-pathspecs", "log", *_OWN_DIFF, "-1", "--diff-filter=D", "--no-renames", "--format=%H",
                f"{since}..{self.head}", "--", path,
            )  # fmt: skip
            commit = said.decode().strip()
            if not commit:
                return None
            asked = (*_OWN_DIFF, "-r", "-M", "--diff-filter=R", "--name-status", "-z", "--no-commit-id")
            path, since = _moves(self._say("diff-tree", *asked, commit)).get(path, ""), commit
            if not path or path in seen:
                return None
            if self.entries([path]):
                return path
            seen.add(path)
        return None

    # ----------------------------------------------------------------------------------------------------- privately
    def _blobs(self, entries: Sequence[Entry]) -> Iterator[bytes]:
        """The contents of files, in their order."""
        answer = self._batch("--batch", [entry.blob for entry in entries])
        at = 0
        for entry in entries:
            start = answer.index(b"\n", at) + 1
            at = start + entry.size + 1
            yield answer[start : at - 1]

    def _known(self, commits: set[str]) -> dict[str, str]:
        """Full ids of the commits that are here."""
        names = sorted(commits)
        lines = self._batch("--batch-check", [f"{name}^{{commit}}" for name in names]).decode().split("\n")
        return {name: line.split(" ")[0] for name, line in zip(names, lines) if line.split(" ")[1:2] == ["commit"]}

    def _batch(self, how: str, names: Sequence[str]) -> bytes:
        if not names:
            return b""
        given = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
        return self._say("cat-file", how, "--follow-symlinks", given=given)

    def _unfiltered(self) -> dict[str, str]:
        if self._filters_off is None:
            self._filters_off = filters_off(self.root, self.clock.left())
        return self._filters_off

    def _say(
        self, *question: str, given: bytes = b"", fails: bool = False, settings: Mapping[str, str] | None = None
    ) -> bytes:
        """git's answer; with `fails`, also when it ends with an error."""
        done = self._run(question, given, settings)
        if done.returncode != 0 and not fails:
            raise GitError(question[0], done.stderr)
        return done.stdout

    def _fine(self, *question: str) -> bool:
        return self._run(question).returncode == 0

    def _run(
        self, question: Sequence[str], given: bytes = b"", settings: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        try:
            return call(self.root, *question, seconds=self.clock.left(), given=given, settings=settings)
        except subprocess.TimeoutExpired as error:
            raise OutOfTime from error
        except OSError as error:
            raise GitError(question[0], str(error).encode()) from error


def _moves(said: bytes) -> dict[str, str]:
    """From `R100 NUL old NUL new NUL …`."""
    parts = said.decode("utf-8", "surrogateescape").split("\0")
    return dict(zip(parts[1::3], parts[2::3]))


class GitError(Exception):
    """git could not answer."""

    def __init__(self, question: str, said: bytes) -> None:
        super().__init__(f"git {question}: {said.decode('utf-8', 'replace').strip()[:200]}")


def open_repository(directory: Path, seconds: float | None = None) -> Repository | None:
    """The repository that a directory is in; None outside one, in a bare one, and in one without a commit.

    Args:
        seconds: how long everything that is asked of it may take.
    """
    clock = Clock(time.monotonic() + (PATIENCE * 60 if seconds is None else seconds))
    asking = Repository(directory, "", clock)
    try:
        lines = asking._say("rev-parse", "--show-toplevel", "HEAD^{commit}").decode("utf-8", "surrogateescape")
    except (GitError, OutOfTime):
        return None
    root, _, head = lines.rstrip("\r\n").rpartition("\n")
    return Repository(Path(root.rstrip("\r")), head, clock)
