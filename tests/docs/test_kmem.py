"""The page that walks kmem's document rule by rule is true: what is said to be as there is shown by a test."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.docs.markdown import ROOT

_ROW = re.compile(r"^\| (C-\d+) \| ([^|]+) \| (as there|another way: .+|not here: .+) \|$", re.MULTILINE)
PAGE = (ROOT / "docs" / "reference" / "kmem.md").read_text()
RULES = {rule: (about, here) for rule, about, here in _ROW.findall(PAGE)}


@cache
def shown() -> frozenset[str]:
    """The numbers that tests cite, with those between the ends of a range."""
    texts = [path.read_text() for path in (ROOT / "tests").rglob("*.py") if path.name != "test_kmem.py"]
    cited = {int(number) for text in texts for number in re.findall(r"\bC-(\d+)", text)}
    for text in texts:
        for first, last in re.findall(r"\bC-(\d+) to C-(\d+)", text):
            cited |= set(range(int(first), int(last) + 1))
    return frozenset(f"C-{number}" for number in cited)


def test_every_row_is_a_rule_once_in_order() -> None:
    rows = re.findall(r"^\| C-(\d+) ", PAGE, re.MULTILINE)
    assert list(RULES) == [f"C-{number}" for number in rows]
    assert list(map(int, rows)) == sorted(set(map(int, rows)))
    assert len(RULES) > 90


@pytest.mark.parametrize("rule", [rule for rule, (_, here) in RULES.items() if here == "as there"])
def test_what_is_as_in_kmems_document_is_shown_by_a_test(rule: str) -> None:
    assert rule in shown(), f"no test cites {rule}: {RULES[rule][0]}"
