"""The measured sets as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from bench.retrieval.scoring import Scored


def report(sets: Sequence[Scored], peers: Sequence[str], legs: Sequence[str]) -> str:
    """One row a set; the last stage is the product, and is marked when it reaches what it must."""
    columns = [*peers, *legs]
    lines = [
        f"| set | figure | documents | questions | {' | '.join(columns)} | must | aim | |",
        f"|---|---|---:|---:|{'---:|' * (len(columns) + 2)}---|",
    ]
    for scored in sets:
        values = " | ".join(_shown(scored.figure(column)) for column in columns)
        label = scored.goal.metric + (f", {scored.goal.group}" if scored.goal.group != "all" else "")
        lines.append(
            f"| {scored.name} | {label} | {scored.documents:,} | {scored.questions:,} | {values} "
            f"| {scored.goal.must:.3f} | {scored.goal.aim:.3f} | {_verdict(scored, legs[-1])} |"
        )
        lines += _precision(scored, columns)
    notes = [note for scored in sets for note in _notes(scored, legs[-1])]
    return "\n".join([*lines, "", *notes])


def _precision(scored: Scored, columns: Sequence[str]) -> list[str]:
    if scored.goal.precision is None:
        return []
    values = " | ".join(
        _shown(scored.stages[column].mean("P_ret") if column in scored.stages else None) for column in columns
    )
    return [f"| {scored.name} | precision | | | {values} | {scored.goal.precision:.3f} | | |"]


def _verdict(scored: Scored, stage: str) -> str:
    value = scored.figure(stage) or 0.0
    if scored.goal.precision is not None and scored.stages[stage].mean("P_ret") < scored.goal.precision:
        return "below"
    if round(value, 3) >= scored.goal.aim > 0:
        return "aim"
    return "reached" if round(value, 3) >= scored.goal.must else "below"


def _notes(scored: Scored, stage: str) -> list[str]:
    seconds = sorted(scored.stages[stage].seconds)
    asked = max(1, len(seconds))
    line = (
        f"- {scored.name}: stored in {1000 * scored.store_cpu / max(1, scored.documents):.1f} ms CPU a document, "
        f"{stage} search p50 {1000 * seconds[asked // 2]:.1f} ms, p95 {1000 * seconds[int(asked * 0.95)]:.1f} ms, "
        f"{1000 * scored.stages[stage].cpu / asked:.1f} ms CPU"
    )
    refused = ", ".join(f"{number} not stored: {code}" for code, number in sorted(scored.refused.items()))
    return [line + (f"; {refused}" if refused else "")]


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
