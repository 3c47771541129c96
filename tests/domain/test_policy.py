"""The write policy, every combination against the document's own words (C-136, C-139 to C-141)."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest

from dolmen.domain.policy import SENTENCES, Base, Because, Operation, Write, rule
from dolmen.domain.values import MODES, WRITE_POLICIES, Mode, Writing

BASES: dict[Operation, tuple[Base, ...]] = {
    "create": ("free", "taken"),
    "replace": ("free", "taken"),
    "edit": ("current", "stale", "blind"),
    "delete": ("current", "stale"),
    "retract": ("current", "stale"),
    "withdraw": ("current",),
}
"""What each operation can meet."""

WRITES = [(op, base) for op, bases in BASES.items() for base in bases]

CONFLICTS: dict[tuple[Operation, Base], str] = {
    ("create", "free"): "apply clear",
    ("create", "taken"): "queue taken",
    ("replace", "free"): "queue replaces",
    ("replace", "taken"): "queue taken",
    ("edit", "current"): "apply clear",
    ("edit", "stale"): "queue stale",
    ("edit", "blind"): "queue blind",
    ("delete", "current"): "queue deletion",
    ("delete", "stale"): "queue stale",
    ("retract", "current"): "apply own",
    ("retract", "stale"): "queue stale",
    ("withdraw", "current"): "apply own",
}
"""A connection in write mode under the shipped policy, with agent writes on (C-141)."""

DIRECT: dict[tuple[Operation, Base], str] = {
    ("create", "free"): "apply direct",
    ("create", "taken"): "queue taken",
    ("replace", "free"): "apply direct",
    ("replace", "taken"): "queue taken",
    ("edit", "current"): "apply direct",
    ("edit", "stale"): "queue stale",
    ("edit", "blind"): "apply direct",
    ("delete", "current"): "apply direct",
    ("delete", "stale"): "queue stale",
    ("retract", "current"): "apply own",
    ("retract", "stale"): "queue stale",
    ("withdraw", "current"): "apply own",
}
"""The looser policy: only what its writer did not see waits."""


def expected(writing: Writing, mode: Mode, op: Operation, base: Base, *, preference: bool, human: bool) -> str:
    unseen = base in ("stale", "taken")
    if human:
        return f"refuse {base}" if unseen else "apply person"
    if mode == "read":
        return "refuse read-only"
    if op == "withdraw":
        return "apply own"
    if unseen and writing.unseen == "refuse":
        return f"refuse {base}"
    if mode == "suggest":
        return "queue mode"
    if not writing.agent_writes:
        return "queue agent-writes-off"
    if preference:
        return "queue kind"
    if writing.policy == "review":
        return "queue review"
    return (CONFLICTS if writing.policy == "conflicts" else DIRECT)[op, base]


SETTINGS = [
    Writing(agent_writes=on, policy=policy, unseen=unseen)
    for on, policy, unseen in product((True, False), WRITE_POLICIES, ("queue", "refuse"))  # type: ignore[arg-type]
]


@pytest.mark.parametrize("human", [False, True], ids=["agent", "person"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("writing", SETTINGS, ids=lambda w: f"{w.policy}-{w.agent_writes}-{w.unseen}")
def test_every_combination_has_its_answer(writing: Writing, mode: Mode, human: bool) -> None:
    """C-139 to C-141, C-119."""
    for (op, base), preference in product(WRITES, (False, True)):
        write = Write(op, base, ("preference",) if preference else ("fact",))
        ruling = rule(writing, mode, write, human=human)
        said = expected(writing, mode, op, base, preference=preference, human=human)
        assert f"{ruling.verdict} {ruling.because}" == said, write


def test_the_tables_have_a_row_for_every_operation_and_what_it_can_meet() -> None:
    assert set(BASES) == set(get_args(Operation))
    assert set(CONFLICTS) == set(DIRECT) == set(WRITES)
    assert {base for bases in BASES.values() for base in bases} == set(get_args(Base))


def test_a_stricter_policy_never_applies_what_a_looser_one_leaves_to_a_person() -> None:
    """`review` lets through nothing that `conflicts` holds back, nor that what `direct` holds back."""
    rank = {"refuse": 0, "queue": 1, "apply": 2}
    for mode, (op, base), on in product(MODES, WRITES, (True, False)):
        verdicts = [
            rank[rule(Writing(on, policy, "queue"), mode, Write(op, base)).verdict]  # type: ignore[arg-type]
            for policy in ("review", "conflicts", "direct")
        ]
        assert verdicts == sorted(verdicts), (mode, op, base)


def test_a_connection_that_may_only_propose_never_applies_a_change() -> None:
    """C-139: also when agents may write."""
    for writing, (op, base) in product(SETTINGS, WRITES):
        if op != "withdraw":
            assert rule(writing, "suggest", Write(op, base)).verdict != "apply"


def test_every_reason_has_its_sentence() -> None:
    assert set(get_args(Because)) <= set(SENTENCES)
