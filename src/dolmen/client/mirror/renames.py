"""Which new file is which one that went? A renamed file stays the note that it was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from dolmen.client.mirror.names import same_name
from dolmen.client.mirror.scanning import Found
from dolmen.client.mirror.state import Entry
from dolmen.domain.note import content_sha, name_of
from dolmen.domain.text import trigram_similarity

_EMPTY = content_sha("")
_COMPARED = 400
"""Pairs of files that are compared by what they say."""
_ALIKE, _SURE = 0.6, 0.3
"""How alike two texts have to be; less where the file system holds them as one file."""
_CHARACTERS = 2_000

Text = Callable[[Found], str | None]
"""What a file says; None for one that cannot be read."""


def renames(
    missing: Sequence[Entry],
    fresh: Sequence[Found],
    shared: Mapping[str, str],
    text: Text,
    before: Callable[[Entry], str | None],
) -> dict[str, Found]:
    """By note, the new path of its file: as the shared list says, the same words, or the nearest ones.

    Args:
        shared: ids by path, as a commit from elsewhere may bring them.
        before: what the file said that went.
    """
    if not missing or not fresh:
        return {}
    work = _Matching({entry.id: entry for entry in missing}, {found.path: found for found in fresh}, {})
    for found in fresh:
        if (id := shared.get(same_name(found.path))) is not None and id in work.missing:
            work.take(id, found)
    words = {found.path: said for found in work.fresh.values() if (said := text(found)) is not None}
    work.same_words({path: content_sha(said) for path, said in words.items()})
    if len(work.missing) * len(work.fresh) <= _COMPARED:
        work.near_words(words, before)
    return work.taken


class _Matching:
    def __init__(self, missing: dict[str, Entry], fresh: dict[str, Found], taken: dict[str, Found]) -> None:
        self.missing, self.fresh, self.taken = missing, fresh, taken

    def take(self, id: str, found: Found) -> None:
        self.taken[id] = found
        del self.missing[id]
        del self.fresh[found.path]

    def same_words(self, shas: Mapping[str, str]) -> None:
        """Of several files with the same words, the one with the same number or the same name."""
        by_sha: dict[str, list[Found]] = {}
        for found in self.fresh.values():
            if (sha := shas.get(found.path)) is not None:
                by_sha.setdefault(sha, []).append(found)
        for sure in (True, False):
            for entry in list(self.missing.values()):
                for found in self._like(entry, by_sha, sure=sure):
                    by_sha[entry.file].remove(found)
                    self.take(entry.id, found)
                    break

    def _like(self, entry: Entry, by_sha: Mapping[str, list[Found]], *, sure: bool) -> Iterator[Found]:
        for found in by_sha.get(entry.file, ()):
            same = _same_number(entry, found) or name_of(entry.path) == name_of(found.path)
            if same or (not sure and entry.file != _EMPTY):
                yield found

    def near_words(self, words: Mapping[str, str], before: Callable[[Entry], str | None]) -> None:
        pairs: list[tuple[bool, float, str, Found]] = []
        for entry in self.missing.values():
            if not (said := before(entry)):
                continue
            for found in self.fresh.values():
                now, same = words.get(found.path), _same_number(entry, found)
                if now and (likeness := _likeness(said, now)) >= (_SURE if same else _ALIKE):
                    pairs.append((same, likeness, entry.id, found))
        for _, _, id, found in sorted(pairs, key=lambda pair: pair[:3], reverse=True):
            if id in self.missing and found.path in self.fresh:
                self.take(id, found)


def _same_number(entry: Entry, found: Found) -> bool:
    """Whether a file system holds both as one file that has another name now."""
    return entry.mark is not None and entry.mark[2] == found.mark[2] != 0


def _likeness(one: str, other: str) -> float:
    """From 0 to 1: how many lines are the same, or how near their beginnings are."""
    a, b = (Counter(filter(None, map(str.strip, text.split("\n")))) for text in (one, other))
    lines = 2 * (a & b).total() / max(1, a.total() + b.total())
    return max(lines, trigram_similarity(one[:_CHARACTERS], other[:_CHARACTERS]))
