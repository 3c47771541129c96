"""The sets, the figure that counts on each, and what to reach; and the programs that stand beside the data.

`membench.py` reads the sets and computes the metrics, `baselines.py` has what to compare with. Both are loaded from the
folder above the data, so that this project measures itself with a rule that it does not hold in its own hands.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

SUFFIX = ".dev.jsonl.gz"
CORE = "core"


@dataclass(frozen=True, slots=True)
class Goal:
    """The figure of a set, by the names that membench gives to metrics and groups of questions."""

    metric: str = "R@5"
    must: float = 0.0
    aim: float = 0.0
    group: str = "all"
    """`all` questions, or `core`: those that search alone can be asked for (BEAM)."""
    precision: float | None = None
    """The share of what came back that was wanted must be at least this."""


GOALS = {
    "locomo-turn": Goal("R@10", 0.65, 0.72),
    "locomo-session": Goal("R@5", 0.88, 0.93),
    "lme500c": Goal("any@5", 0.978, 1.0),
    "beam100k": Goal("R@10", 0.72, 0.80, CORE),
    "beam500k": Goal("R@10", 0.62, 0.70, CORE),
    "scifact": Goal("NDCG@10", 0.70, 0.75),
    "cosqa": Goal("R@10", 0.62, 0.75),
    "commits": Goal("R@10", 0.60, 0.65),
    "korquad": Goal("R@5", 0.965, 0.985),
    "tatoeba-ko-en": Goal("R@5", 0.88, 0.95),
    "pmb": Goal("R@5", 0.95, 0.97, precision=0.45),
    "devmem-en": Goal("R@5", 0.65, 0.85),
    "devmem-ko": Goal("R@5", 0.66, 0.80),
    "devmem-ko-en": Goal("R@5", 0.65, 0.80),
    "devmem-code": Goal("R@5", 0.82, 0.92),
}
LARGE = frozenset({"beam500k"})
"""Left out unless named: its 38,000 long messages take hours to embed the first time."""


def named(folder: Path, names: str) -> list[str]:
    """The sets to run: those named, or all in the folder but the large ones.

    Raises:
        SystemExit: a set is not in the folder, or there is none.
    """
    there = [name for name in GOALS if (folder / (name + SUFFIX)).is_file()]
    others = {path.name.removesuffix(SUFFIX) for path in folder.glob("*" + SUFFIX)} - GOALS.keys()
    there += sorted(others)
    if not there:
        sys.exit(f"No sets ({SUFFIX}) in {folder}: name their folder with --data.")
    if not names:
        return [name for name in there if name not in LARGE]
    wanted = names.split(",")
    if missing := [name for name in wanted if name not in there]:
        sys.exit(f"No such set in {folder}: {', '.join(missing)}. There are: {', '.join(there)}.")
    return wanted


def goal(name: str) -> Goal:
    return GOALS.get(name, Goal())


def load(path: Path) -> ModuleType:
    """A module by its file.

    Raises:
        SystemExit: there is no such file.
    """
    if not path.is_file():
        sys.exit(f"{path} is missing: it belongs beside the data (see bench/README.md).")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # its dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def corpora(membench: ModuleType, folder: Path, name: str) -> Iterator[Any]:
    """The corpora of a set, as membench makes them: `.docs` = (id, text, time), `.queries` = (text, gold, cat, at)."""
    found: Iterator[Any] = membench.from_file(folder / (name + SUFFIX))
    return found
