"""Looking at targets in a repository: what is found, what is not, and what nobody can tell from here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from dolmen.client.refs.repository import ABSENT, Entry, GitError, OutOfTime, Repository
from dolmen.client.symbols import SCHEME, Reader, combined, language_of, same
from dolmen.client.symbols.definitions import Source
from dolmen.client.symbols.reading import SECONDS
from dolmen.domain.code import Check, Target, may_define, qualified, scheme, valid_path, valid_symbol

FILE = "blob"
"""The scheme of a file's hash: git's own."""
TOGETHER = 250
"""Targets that are prepared at once: out of time, those before are done."""
CANDIDATES = 50
"""Files that are searched for a definition; a name that more mention is too common to be told apart."""
PLACES = 5
"""Files in which a name without a file may be defined; defined in more, nobody knows which one is meant."""

_SHARE = 0.25
"""Of the time that is left, for one file."""

Why = Literal["diverged", "uncommitted", "newer", "language", "unclear", "time"]
"""Why a target was passed over: its anchor is not in the history that is checked out; its file has uncommitted changes;
somebody has looked at a newer commit; its language cannot be read here; it cannot be told for sure; out of time."""


@dataclass(slots=True)
class Findings:
    """What was found, and how many targets were passed over, by the reason."""

    checks: list[Check] = field(default_factory=list)
    passed_over: Counter[Why] = field(default_factory=Counter)

    @property
    def done(self) -> int:
        return len(self.checks) + self.passed_over.total()


class _PassOver(Exception):
    def __init__(self, why: Why) -> None:
        super().__init__(why)
        self.why = why


def look(repository: Repository, targets: Sequence[Target]) -> Findings:
    """Looks at each target, in their order, until the repository's time is over; never raises for want of time."""
    findings = Findings()
    valid = [each for each in targets if _valid(each)]
    try:
        with Reader() as reader:
            looker = _Looker(repository, reader)
            for start in range(0, len(valid), TOGETHER):
                _look(looker, valid[start : start + TOGETHER], findings)
    except OutOfTime:
        findings.passed_over["time"] += len(valid) - findings.done
    except GitError:  # asking for what several need
        findings.passed_over["unclear"] += len(valid) - findings.done
    return findings


def _look(looker: _Looker, targets: Sequence[Target], findings: Findings) -> None:
    own = _in_own_scheme(looker.repository, targets)
    looker.prepare(list(own.values()))
    for target in targets:
        try:
            findings.checks.append(_in_scheme_of(target, own[target], looker.check(own[target])))
        except _PassOver as skipped:
            findings.passed_over[skipped.why] += 1
        except GitError:
            findings.passed_over["unclear"] += 1


def _valid(target: Target) -> bool:
    """Whether it may be put on git's command line."""
    named = bool(target.path or target.symbol)
    return named and (not target.path or valid_path(target.path)) and (not target.symbol or valid_symbol(target.symbol))


def _in_own_scheme(repository: Repository, targets: Sequence[Target]) -> dict[Target, Target]:
    """Each target with its anchor as this program makes it. One that another made (an earlier version, Kenfold) is made
    again from the commit that it was anchored at, so that nothing has to be anchored anew."""
    own = {target: target for target in targets}
    foreign = [each for each in targets if each.symbol and each.anchor_hash and scheme(each.anchor_hash) != SCHEME]
    for commit in repository.contained({each.anchor_commit for each in foreign}):
        some = [each for each in foreign if each.anchor_commit == commit]
        then = Repository(repository.root, commit, repository.clock, clean=True)
        found = look(then, [Target(each.path, each.symbol) for each in some]).checks
        hashes = {(each.path, each.symbol): each.hash for each in found}
        for target in some:
            if hash := hashes.get((target.path, target.symbol)):
                own[target] = replace(target, anchor_hash=hash)
    return own


def _in_scheme_of(target: Target, own: Target, check: Check) -> Check:
    """A check of the target in its own scheme, as a check of the target: equal hashes stay equal, others differ."""
    if own == target or not check.found:
        return check
    same_hash = check.hash == own.anchor_hash
    return replace(check, hash=target.anchor_hash if same_hash else f"{scheme(target.anchor_hash)}:{check.hash}")


class _Looker:
    """One look at many targets; what several need is asked once."""

    def __init__(self, repository: Repository, reader: Reader) -> None:
        self.repository = repository
        self._reader = reader
        self._contained: set[str] = set()
        self._newer: set[str] = set()
        self._entries: dict[str, Entry] = {}
        self._sources: dict[str, Source | None] = {}
        self._mentioned: dict[str, list[str]] = {}
        self._places: dict[tuple[str, str], str] = {}
        self._targets: Sequence[Target] = ()
        self._searched = False

    def prepare(self, targets: Sequence[Target]) -> None:
        """Asks git for what the next targets need."""
        self._targets, self._searched = targets, False
        repository = self.repository
        anchored = [each for each in targets if each.anchor_commit]
        self._contained |= repository.contained({each.anchor_commit for each in anchored} - self._contained)
        self._newer |= repository.ahead({each.checked_commit for each in anchored if each.checked_commit})
        self._entries.update(repository.entries([each.path for each in targets if each.path]))
        repository.contents({each.path for each in targets if each.symbol and each.path in self._entries})
        repository.dirty({each.path for each in targets if each.path and not each.anchor_commit})

    def check(self, target: Target) -> Check:
        if target.anchor_commit and target.anchor_commit not in self._contained:
            raise _PassOver("diverged")
        if target.anchor_commit and target.checked_commit in self._newer:
            raise _PassOver("newer")
        if target.anchor_commit and scheme(target.anchor_hash) != (SCHEME if target.symbol else FILE):
            raise _PassOver("unclear")
        if target.path and any(target.path.startswith(f"{each}/") for each in self.repository.submodules()):
            raise _PassOver("diverged")
        if not target.path:
            return self._symbol_anywhere(target)
        path = self._place(target)
        return self._symbol_in(target, path) if target.symbol else self._file(target, path)

    # ------------------------------------------------------------------------------------------------------ files
    def _file(self, target: Target, path: str) -> Check:
        self._committed(target, [path or target.path])
        entry = self._entries.get(path)
        if entry is None:
            return _answer(target)
        return _answer(target, f"{FILE}:{entry.blob}", path)

    def _place(self, target: Target) -> str:
        """Where the file of a target is; empty when it is nowhere."""
        key = (target.path, target.anchor_commit)
        if key not in self._places:
            self._places[key] = target.path if target.path in self._entries else self._found(target)
        return self._places[key]

    def _found(self, target: Target) -> str:
        repository, path = self.repository, target.path
        if repository.partial() and path in repository.tree():
            raise _PassOver("unclear")  # it is there, only its contents are not
        if target.anchor_commit and repository.entries([path], target.anchor_commit):
            found = repository.renamed(path, target.anchor_commit)
        else:  # only the end of its path was said
            ends = [each for each in repository.tree() if each.endswith(f"/{path}")]
            if len(ends) > 1:
                raise _PassOver("unclear")
            found = ends[0] if ends else None
        if found and found not in self._entries:
            self._entries.update(repository.entries([found]))
        return found or ""

    def _committed(self, target: Target, paths: Sequence[str]) -> None:
        """Passes over what is to be anchored and has uncommitted changes: the memory may speak of those (C-225)."""
        if not target.anchor_commit and self.repository.dirty(paths):
            raise _PassOver("uncommitted")

    # ---------------------------------------------------------------------------------------------------- symbols
    def _symbol_in(self, target: Target, path: str) -> Check:
        self._committed(target, [path or target.path])
        symbol = qualified(target.symbol)
        if path:
            source = self._source(path)
            if source is None:
                raise _PassOver("language" if language_of(path) is None else "unclear")
            if found := source.of(symbol, path):
                now = combined(each.hash for each in found)
                return _answer(target, _compared(target, now, more_allowed=False), path)
            if not source.whole:
                raise _PassOver("unclear")
        elif language_of(target.path) is None:
            raise _PassOver("language")
        return self._moved(target, symbol) if target.anchor_commit else _answer(target)

    def _moved(self, target: Target, symbol: tuple[str, ...]) -> Check:
        """A symbol that left its file: moved when the same definition stands elsewhere, changed when the only other one
        of that name says something else, gone else."""
        elsewhere = {
            path: combined(each.hash for each in found)
            for path, source in self._candidates(symbol[-1])
            if path != target.path and source is not None and (found := source.of(symbol, path))
        }
        for path, now in elsewhere.items():
            if same(target.anchor_hash, now, more_allowed=True):
                return _answer(target, target.anchor_hash, path)
        if len(elsewhere) == 1:
            [(path, now)] = elsewhere.items()
            return _answer(target, _compared(target, now, more_allowed=False), path)
        return self._gone(target)

    def _symbol_anywhere(self, target: Target) -> Check:
        symbol = qualified(target.symbol)
        hashes: list[str] = []
        places: list[str] = []
        unread: list[str] = []
        for path, source in self._candidates(symbol[-1]):
            found = source.of(symbol, path) if source is not None else ()
            if found:
                places.append(path)
                hashes += [each.hash for each in found]
            elif source is None or not source.whole:
                unread.append(path)
        self._committed(target, places)
        if target.anchor_commit and not hashes and not unread:
            return self._gone(target)
        if target.anchor_commit:
            now = _compared(target, combined(hashes), more_allowed=True) if hashes else ""
            if unread and now != target.anchor_hash:
                raise _PassOver("unclear")
            return _answer(target, now, places[0] if places else "")
        if unread:
            raise _PassOver("language" if all(language_of(path) is None for path in unread) else "unclear")
        if not places or len(places) > PLACES:
            return _answer(target)
        return _answer(target, combined(hashes), places[0])

    def _gone(self, target: Target) -> Check:
        """Nowhere, unless it stands in a file that is not here."""
        if self.repository.partial() and any(
            entry.size == ABSENT and may_define(path) for path, entry in self.repository.tree().items()
        ):
            raise _PassOver("unclear")
        return _answer(target)

    def _candidates(self, name: str) -> Iterator[tuple[str, Source | None]]:
        """Source files that mention a name."""
        if name not in self._mentioned:
            self._look_for(name)
        paths = self._mentioned[name]
        if len(paths) > CANDIDATES:
            raise _PassOver("unclear")
        for path in paths:
            yield path, self._source(path)

    def _look_for(self, name: str) -> None:
        """Which files mention a name; asked together for all that have to be looked for."""
        names = {name}
        if not self._searched:
            self._searched = True
            names |= {qualified(each.symbol)[-1] for each in self._targets if each.symbol and self._is_lost(each)}
        found = self.repository.mentioning(names, may_define)
        self._mentioned.update(found)
        self.repository.contents(path for paths in found.values() if len(paths) <= CANDIDATES for path in paths)

    def _is_lost(self, target: Target) -> bool:
        """Whether a symbol has no file, or is not in the file that it was in."""
        if not target.path or (target.anchor_commit and target.path not in self._entries):
            return True
        source = self._source(target.path) if target.anchor_commit else None
        return source is not None and not source.of(qualified(target.symbol), target.path)

    def _source(self, path: str) -> Source | None:
        if path not in self._sources:
            content = self.repository.contents([path])[path]
            # Never all of the time: one file that takes too long must not be in the way of the others, each time anew.
            seconds = min(SECONDS, self.repository.clock.left() * _SHARE)
            self._sources[path] = None if content is None else self._reader.definitions(path, content, seconds)
        return self._sources[path]


def _compared(target: Target, now: str, *, more_allowed: bool) -> str:
    """The hash to report: the anchored one where that is still there."""
    return target.anchor_hash if same(target.anchor_hash, now, more_allowed=more_allowed) else now


def _answer(target: Target, hash: str = "", path: str = "") -> Check:
    return Check(
        target.path, target.symbol, target.anchor_commit, bool(hash), hash, path if path != target.path else ""
    )
