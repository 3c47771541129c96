"""The walk through what waits for a person: one proposal after the other, with everything that helps to decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.cli.visible import for_terminal

if TYPE_CHECKING:
    from dolmen.domain.proposal import Group
    from dolmen.domain.values import Actor
    from dolmen.interfaces.cli.here import Here
    from dolmen.services.requests import ReviewItem
    from dolmen.services.runtime import Runtime

PLURALS: dict[Group, str] = {
    "preference": "preferences",
    "extracted": "extracted memories",
    "duplicate": "duplicates",
    "conflict": "contradictions",
    "digest": "digests",
    "purge": "purges",
    "suggestion": "suggestions",
}
_MOST = 1_000
_HELP = """\
  a  approve: do it; the memory then counts as your own word
  e  edit the text, then approve that
  r  reject, with a reason; it is not proposed again
  s  skip: it goes on waiting
  A  approve all of this group that are left
  R  reject all of this group that are left
  q  stop here; what was decided stays decided"""

_WORDS = ("approve", "edit", "reject", "skip", "quit")


def _choice(typed: str) -> str:
    """The letter that was meant: itself, or the first of a word that stands for it; empty for anything else, such as
    `abort`, which agrees to nothing."""
    if len(typed) < 2:
        return typed
    return next((word[0] for word in _WORDS if word.startswith(typed.lower())), "")


@dataclass(slots=True)
class Walk:
    """One run of `dolmen review` at a terminal."""

    here: Here
    rt: Runtime
    actor: Actor
    group: Group | None = None
    decided: Counter[str] = field(default_factory=Counter)
    _all: dict[Group, Callable[[ReviewItem], None]] = field(default_factory=dict)
    """Groups that were decided as a whole."""

    def run(self) -> None:
        """Walks through everything that waits."""
        from dolmen.services.review import pending

        items = pending(self.rt, self.actor, "pending", _MOST, self.group)
        if not items:
            self._say(["Nothing waits for you."])
            return
        self._say([f"{len(items):,} wait for you: {_counted(items)}"])
        for n, seen in enumerate(items, 1):
            if not self._one(seen, n, len(items)):
                break
        self._say(["", self._summary(len(items))])

    def _one(self, seen: ReviewItem, n: int, total: int) -> bool:
        """Whether to go on."""
        from dolmen.services.review import one

        try:
            item = one(self.rt, self.actor, seen.id)  # another process may have decided, or changed what it is about
        except DolmenError:
            return True
        if item.status != "pending":
            return True
        if item.group in self._all:
            self._attempt(self._all[item.group], item)
            return True
        self._say(["", *self._shown(item, n, total)])
        while True:
            asked = self._ask(item)
            if asked is not None:
                return asked

    def _ask(self, item: ReviewItem) -> bool | None:
        """Whether to go on; None to ask again."""
        edit = "[e]dit, " if item.text else ""
        choices = f"[a]pprove, {edit}[r]eject, [s]kip, [A]/[R] all {PLURALS[item.group]}, [q]uit, [?]"
        typed = click.prompt(f"{choices}, then Enter", prompt_suffix=" > ", default="s", show_default=False, err=True)
        match _choice(str(typed).strip()):
            case "a":
                return self._attempt(self._approve, item) or None
            case "e" if item.text:
                return self._edit(item)
            case "r":
                return self._attempt(lambda each: self._reject(each, _reason()), item) or None
            case "A":
                return self._whole(item, self._approve, "Approve")
            case "R":
                reason = _reason()
                return self._whole(item, lambda each: self._reject(each, reason), "Reject")
            case "q":
                return False
            case "s":
                self.decided["skipped"] += 1
                return True
            case _:
                shown = [line for line in _HELP.splitlines() if item.text or not line.startswith("  e ")]
                self._say(shown)
                return None

    def _approve(self, item: ReviewItem, text: str | None = None) -> None:
        from dolmen.services.review import apply

        if item.stale and not click.confirm("The memory changed since. Approve it all the same?", err=True):
            raise DolmenError("conflict", "It goes on waiting.", "")
        apply(self.rt, self.actor, item.id, force=item.stale, text=text)
        self.decided["approved"] += 1

    def _reject(self, item: ReviewItem, reason: str) -> None:
        from dolmen.services.review import reject

        reject(self.rt, self.actor, item.id, reason)
        self.decided["rejected"] += 1

    def _edit(self, item: ReviewItem) -> bool | None:
        edited = click.edit(item.text, extension=".md")
        text = "" if edited is None else edited.strip()
        if not text or text == item.text.strip():
            self._say(["Nothing was edited."])
            return None
        self._say([*self.here.out.diff("\n".join(f"-{line}" for line in item.text.splitlines())),
                   *self.here.out.diff("\n".join(f"+{line}" for line in text.splitlines()))])  # fmt: skip
        if not click.confirm("Approve it like this?", default=True, err=True):
            return None
        return self._attempt(lambda each: self._approve(each, text), item) or None

    def _whole(self, item: ReviewItem, decide: Callable[[ReviewItem], None], verb: str) -> bool | None:
        """Decides this one and, from then on, every one of its group."""
        from dolmen.services.review import pending

        left = len(pending(self.rt, self.actor, "pending", _MOST, item.group))
        if not click.confirm(f"{verb} all {left:,} {PLURALS[item.group]} that wait?", err=True):
            return None
        self._all[item.group] = decide
        return self._attempt(decide, item) or None

    def _attempt(self, decide: Callable[[ReviewItem], None], item: ReviewItem) -> bool:
        """Whether it went well; says why not."""
        try:
            decide(item)
        except DolmenError as error:
            self.here.out.error(error.message, error.fix, error.as_dict())
            return False
        return True

    def _shown(self, item: ReviewItem, n: int, total: int) -> Iterator[str]:
        out = self.here.out
        what = " · ".join(filter(None, (item.group, item.kind, item.scope.removeprefix("project:"))))
        yield out.bold(f"{n:,} of {total:,}  {what}")
        yield from details(self.here, item)

    def _summary(self, total: int) -> str:
        told = [f"{number:,} {what}" for what, number in self.decided.items()]
        left = total - sum(self.decided.values())
        return ", ".join([*told, *([f"{left:,} left"] if left > 0 else [])]) or "Nothing was decided."

    def _say(self, lines: Sequence[str]) -> None:
        self.here.out.result(None, lines)


def details(here: Here, item: ReviewItem) -> Iterator[str]:
    """What a person needs to know before deciding."""
    from dolmen.interfaces.cli import present
    from dolmen.interfaces.cli.commands.review import REASONS

    out = here.out
    judge = f", judged by {item.judge}" if item.judge else ""
    pairs = (
        ("by", f"{item.agent}, {out.when(item.created_at)}{judge}"),
        ("waits", REASONS.get(item.because, item.because)),
        ("reason", item.reason),
        ("evidence", f"“{' '.join(item.evidence.split())}”" if item.evidence else ""),
        ("changed", "the memory changed since" if item.stale else ""),
    )
    yield from (f"{out.dim(name.ljust(9))} {value}" for name, value in pairs if value)
    yield ""
    yield from out.diff(item.diff)
    for each in item.similar:
        yield f"{out.dim('similar')} {present.short(each.ref)} ({each.similarity:.2f}) {' '.join(each.text.split())}"


def _counted(items: Sequence[ReviewItem]) -> str:
    counts = Counter(item.group for item in items)
    return ", ".join(f"{number:,} {PLURALS[group] if number > 1 else group}" for group, number in counts.items())


def _reason() -> str:
    typed = click.prompt(
        for_terminal("Why? (kept with the decision; may be empty)"), default="", show_default=False, err=True
    )
    return str(typed).strip()
