"""What was written just before and after: in a conversation an answer often stands beside the words that ask for it.

A short turn ("Yes, on Friday") says little by itself. What stands beside it in the same session, and what is best
elsewhere in it, lend it a share of their own evidence; the more the shorter the text, because a long one speaks for
itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

Id = TypeVar("Id", bound=Hashable)

SHARES = (0.4, 0.2)
"""Share of the evidence of the next memory in the session, and of the one after it, on either side."""
WHOLE = 0.4
"""Share of the best evidence elsewhere in the session; less, the more of the candidates are from this session."""
ORDINARY = 1.0
"""Evidence, in standard deviations, that many an unrelated passage has too: only what is above it is shared."""
SHORT = 250
"""Characters up to which a memory takes its whole share; a longer one takes less, in proportion."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memory stands in its session."""

    session: str
    length: int
    """Characters."""
    before: tuple[str, ...] = ()
    """The memories written before it in the session, the nearest first; as many as there are `SHARES`."""


@dataclass(frozen=True, slots=True)
class Setting(Generic[Id]):
    """Where candidate passages stand."""

    owners: Mapping[Id, str]
    """The memory of each passage."""
    places: Mapping[str, Place]
    """Of the memories that have a session."""

    def lifts(self, evidence: Mapping[Id, float]) -> dict[Id, float]:
        """What passages gain by what stands beside their memory, in standard deviations.

        Args:
            evidence: of each candidate passage.
        """
        best: dict[str, float] = {}
        for id, value in evidence.items():
            owner = self.owners[id]
            best[owner] = max(best.get(owner, 0.0), value - ORDINARY)
        gained = {memory: WHOLE * lent for memory, lent in self._elsewhere(best).items()}
        for memory, place in self.places.items():
            for share, before in zip(SHARES, place.before, strict=False):
                if memory in gained and before in gained:
                    gained[memory] += share * best[before]
                    gained[before] += share * best[memory]
        return {id: gain for id in evidence if (gain := self._taken(self.owners[id], gained)) > 0}

    def _elsewhere(self, best: Mapping[str, float]) -> dict[str, float]:
        """What the session of each memory has besides it, lowered by the share of all candidates that it holds: a
        session from which everything is tells nothing apart."""
        here = {memory: place.session for memory, place in self.places.items() if memory in best}
        sessions: dict[str, list[float]] = {}
        for memory, session in here.items():
            sessions.setdefault(session, []).append(best[memory])
        for values in sessions.values():
            values.sort(reverse=True)
        lent = {}
        for memory, session in here.items():
            first, *others = sessions[session]
            other = first if best[memory] < first else max(others, default=0.0)
            lent[memory] = other * (1 - len(sessions[session]) / len(best))
        return lent

    def _taken(self, memory: str, gained: Mapping[str, float]) -> float:
        place = self.places.get(memory)
        return 0.0 if place is None else gained[memory] * min(1.0, SHORT / max(1, place.length))
