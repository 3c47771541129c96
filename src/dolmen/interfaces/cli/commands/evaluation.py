"""`dolmen eval`: how well does recall work on this memory, and what would other settings change?"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import wrap
from typing import IO, TYPE_CHECKING, Any

import click

from dolmen.domain.errors import DolmenError
from dolmen.domain.metrics import METRICS
from dolmen.interfaces.cli.exits import FAILED
from dolmen.interfaces.cli.here import Here, command

if TYPE_CHECKING:
    from dolmen.domain.values import Actor
    from dolmen.services.evaluation import Measured, Question, Questions
    from dolmen.services.runtime import Runtime
    from dolmen.settings import Settings

_SEARCHING = ("embedder", "embeddings_", "rerank_")
"""Names, or their beginnings, of the settings that change a search."""
_SWITCHES = {"floor": True, "reranker": True}
"""What can be switched besides, and how it is by default."""
_MISSED = 5


@dataclass(frozen=True, slots=True)
class _Variant:
    """Settings to compare with those in effect."""

    said: str
    settings: Settings
    floor: bool = True


@click.command("eval")
@click.option("--questions", metavar="FILE", help="Questions with their answers: JSON Lines, or CSV with a header.")
@click.option("--from-feedback", is_flag=True, help="Past recalls that were called relevant.")
@click.option("--held-back", metavar="N", type=click.IntRange(1, 10_000), help="Make questions from N memories.")
@click.option("--with", "changes", multiple=True, metavar="NAME=VALUE,…",
              help="Measure also with other settings, such as `embedder=none` or `rerank_url=…`, `reranker=off`, "
              "`floor=off`; repeat for several comparisons.")  # fmt: skip
@click.option("--at-least", metavar="METRIC=VALUE", help="Exit code 1 when the whole search is worse, as `mrr=0.6`.")
@click.option("--project", metavar="NAME", help="Only this project and the user scope. [default: every project]")
@command
def eval_(
    here: Here,
    questions: str | None,
    from_feedback: bool,
    held_back: int | None,
    changes: tuple[str, ...],
    at_least: str | None,
    project: str | None,
) -> None:
    """Measure how well recall works on your own memory.

    Asks questions whose answers are known, of each leg of the search: words, meaning, both fused, reranked. Prints how
    often a right memory is the first, among the first five and ten, MRR and nDCG@10. Records nothing.
    """
    if sum(map(bool, (questions, from_feedback, held_back))) != 1:
        raise click.UsageError(
            "Name one source of questions: --questions FILE, --from-feedback or --held-back N.",
            click.get_current_context(),
        )
    from dolmen.interfaces.cli.model import awaken

    bound = _bound(at_least)
    variants = [_variant(here, change) for change in changes]
    where = project or "*"
    with here.vault(models=True) as (rt, actor):
        awaken(here, rt)
        asked = _questions(rt, actor, where, questions=questions, feedback=from_feedback, count=held_back)
        if not asked.asked:
            why = "; ".join(asked.left_out[:3])
            raise DolmenError(
                "not-found",
                f"There are no questions to ask{': ' + why if why else '.'}",
                "Write some into a file; docs/how-to/measure-recall.md shows how.",
            )
        rows = [("", each) for each in _measure(here, rt, actor, asked.asked, where)]
        whole = rows[-1][1]
        for variant in variants:
            rows += _compared(here, actor, variant, asked.asked, where)
        missed = _missed(rt, actor, asked.asked, whole)
    here.out.result(_json(asked, rows, whole), _lines(here, asked, rows, missed))
    if bound is not None and whole.means[bound[0]] < bound[1]:
        here.out.warn(f"{bound[0]} is {whole.means[bound[0]]:.3f}, less than {bound[1]:g}")
        sys.exit(FAILED)


def _questions(
    rt: Runtime, actor: Actor, where: str, *, questions: str | None, feedback: bool, count: int | None
) -> Questions:
    from dolmen.services import evaluation

    if feedback:
        return evaluation.from_feedback(rt, actor, project=where)
    if count is not None:
        return evaluation.held_back(rt, actor, count, project=where)
    assert questions is not None
    with _source(questions) as lines:
        return evaluation.from_file(rt, actor, lines, project=where, table=questions.lower().endswith(".csv"))


@contextmanager
def _source(file: str) -> Iterator[IO[str]]:
    if file == "-":
        yield io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace", newline="")
        return
    try:
        with Path(file).open(encoding="utf-8-sig", errors="replace", newline="") as source:
            yield source
    except OSError as error:
        raise DolmenError(
            "not-found",
            f"{file} cannot be read: {error.strerror}.",
            "Name a file of questions; docs/how-to/measure-recall.md shows how to write one.",
        ) from error


def _measure(
    here: Here,
    rt: Runtime,
    actor: Actor,
    questions: Sequence[Question],
    where: str,
    *,
    floor: bool = True,
    last: bool = False,
) -> tuple[Measured, ...]:
    from dolmen.services.evaluation import legs_of, measure

    legs = legs_of(rt)
    progress = here.out.progress("asking")
    found = measure(rt, actor, questions, legs[-1:] if last else legs, project=where, floor=floor, progress=progress)
    progress.end()
    failed = max(each.failed for each in found)
    if failed:
        here.out.warn(f"{failed} of {len(questions)} questions went without a model that should have answered")
    return found


def _compared(
    here: Here, actor: Actor, variant: _Variant, questions: Sequence[Question], where: str
) -> list[tuple[str, Measured]]:
    """The whole search as other settings would have it."""
    from dolmen.app import open_app
    from dolmen.models.contract import ModelUnavailable
    from dolmen.services.stats import index_health

    with open_app(variant.settings) as app:
        if app.runtime.embedder is not None and variant.settings.embedder != "none":
            try:
                app.runtime.embedder.embed_query("dolmen")  # loaded; what another model embedded stays as it is
            except ModelUnavailable as failure:
                here.out.warn(failure.message)
        health = index_health(app.runtime, actor)
        if app.runtime.embedder is not None and app.runtime.embedder.dim and health.embedded < health.passages:
            here.out.warn(
                f"{variant.said}: {health.embedded:,} of {health.passages:,} passages have vectors of that model, the "
                "others are found by words alone; to compare models, measure a copy of the store after `dolmen reindex`"
            )
        found = _measure(here, app.runtime, actor, questions, where, floor=variant.floor, last=True)
    return [(variant.said, each) for each in found]


def _variant(here: Here, change: str) -> _Variant:
    from dolmen.settings import load

    switches = dict(_SWITCHES)
    changed: dict[str, object] = {}
    for pair in change.split(","):
        name, equals, value = (part.strip() for part in pair.partition("="))
        name = name.replace("-", "_")
        if name in switches and value in ("on", "off"):
            switches[name] = value == "on"
        elif equals and name.startswith(_SEARCHING):
            changed[name] = value
        else:
            raise click.UsageError(
                f"--with {pair!r} changes nothing about a search: name a setting that begins with "
                f"{', '.join(_SEARCHING)}, or floor=off, reranker=off.",
                click.get_current_context(),
            )
    loaded = load({**here.flags, **changed}).settings
    settings = replace(here.settings, **{name: getattr(loaded, name) for name in changed if hasattr(loaded, name)})
    if not switches["reranker"]:
        settings = replace(settings, rerank_url="")
    return _Variant(change, settings, switches["floor"])


def _bound(said: str | None) -> tuple[str, float] | None:
    if said is None:
        return None
    metric, _, value = said.lower().partition("=")
    try:
        bound = float(value)
    except ValueError:
        bound = -1.0
    if metric not in METRICS or not 0 <= bound <= 1:
        raise click.UsageError(
            f"--at-least {said!r} is not understood: one of {', '.join(METRICS)}, `=`, and a number up to 1.",
            click.get_current_context(),
        )
    return metric, bound


def _missed(rt: Runtime, actor: Actor, questions: Sequence[Question], whole: Measured) -> list[tuple[str, str]]:
    """Questions whose answer was not among the first ten, and that answer."""
    from dolmen.services.reading import title_of

    lost = [question for question, ranking in zip(questions, whole.rankings, strict=True) if ranking.place is None]
    with rt.read(actor) as tx:
        found = tx.memories.many(actor.vault, [min(question.right) for question in lost[:_MISSED]])
    pairs = [(question.text, found.get(min(question.right))) for question in lost[:_MISSED]]
    return [(text, title_of(memory)) for text, memory in pairs if memory is not None]


def _lines(
    here: Here, asked: Questions, rows: Sequence[tuple[str, Measured]], missed: Sequence[tuple[str, str]]
) -> Iterator[str]:
    from dolmen.interfaces.cli.output import shorten, table

    out = here.out
    yield from wrap(f"{len(asked.asked):,} questions. {asked.source}", 100)
    for why in asked.left_out[:_MISSED]:
        yield out.dim(f"left out: {why}")
    if len(asked.left_out) > _MISSED:
        yield out.dim(f"left out: {len(asked.left_out) - _MISSED} more")
    yield ""
    cells = [["", *METRICS, "median"]]
    for said, each in rows:
        name = f"{each.leg}, {said}" if said else each.leg
        cells.append([name, *(f"{each.means[metric]:.3f}" for metric in METRICS), f"{each.milliseconds:.0f} ms"])
    head, *body = table(cells)
    yield out.dim(head)
    yield from body
    if missed:
        yield ""
        yield "Not among the first ten:"
        for question, title in missed:
            yield f"  {shorten(question, 60)} → {shorten(title, 60)}"


def _json(asked: Questions, rows: Sequence[tuple[str, Measured]], whole: Measured) -> Any:
    return {
        "questions": len(asked.asked),
        "source": asked.source,
        "left_out": list(asked.left_out),
        "legs": [
            {
                "leg": each.leg,
                "with": said or None,
                **{metric: round(value, 4) for metric, value in each.means.items()},
                "milliseconds": round(each.milliseconds, 1),
                "failed": each.failed,
            }
            for said, each in rows
        ],
        "places": [
            {"query": question.text, "refs": sorted(question.right), "place": ranking.place}
            for question, ranking in zip(asked.asked, whole.rankings, strict=True)
        ],
    }
