"""The embedding model, the reranker and the chat model: which ones, why, and whether they work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.cli.commands.doctor.finding import Finding, failed, ok, warn

if TYPE_CHECKING:
    from dolmen.models.choose import Fact
    from dolmen.settings import Settings


def model(settings: Settings, *, quick: bool) -> Iterator[Finding]:
    from dolmen.app import choose_model

    try:
        choice = choose_model(settings)
        facts = choice.describe() if quick else choice.verify()
        choice.embedder.close()
    except DolmenError as error:
        yield failed("model", error)
        return
    yield from _findings("model", facts, "Search goes by words until then.")


def reranker(settings: Settings, *, quick: bool) -> Iterator[Finding]:
    """Nothing when none is set: the search is complete without."""
    from dolmen.app import choose_reranker

    choice = choose_reranker(settings)
    if choice is None:
        return
    facts = choice.describe() if quick else choice.verify()
    choice.reranker.close()
    yield from _findings("reranker", facts, "The search's own order stands until then.")


def chat(settings: Settings, *, quick: bool) -> Iterator[Finding]:
    """Nothing when none is set: memories are then proposed by agents alone."""
    from dolmen.app import choose_chat
    from dolmen.models.contract import ModelUnavailable
    from dolmen.services.extraction.asking import classification

    try:
        model = choose_chat(settings)
    except DolmenError as error:
        yield failed("chat model", error)
        return
    if model is None:
        return
    try:
        if not quick:
            model.ask(classification("Deploys happen on Tuesday.", in_project=True))
        yield ok("chat model", f"{model.model} at {settings.chat_url}" + ("" if quick else ": works"))
        yield ok("chat model", _asked_for(settings))
    except ModelUnavailable as failure:
        yield warn("chat model", failure.message, failure.fix)
    finally:
        model.close()


def _asked_for(settings: Settings) -> str:
    """What the model does here, and what it was told to leave."""
    work = {
        "extract": "reads sessions for memories",
        "classify": "names the type that Kenfold's `remember` was not given",
        "consolidate": "compares memories in the background",
    }
    asked = [says for name, says in work.items() if getattr(settings, name)]
    left = [f"DOLMEN_{name.upper()}" for name in work if not getattr(settings, name)]
    off = f"switched off by {', '.join(left)}" if left else ""
    return "; ".join(filter(None, (", ".join(asked) if asked else "is asked for nothing", off)))


def _findings(name: str, facts: Iterable[Fact], otherwise: str) -> Iterator[Finding]:
    for fact in facts:
        said = f"{fact.name}: {fact.value}"
        yield ok(name, said) if fact.good else warn(name, said, fact.fix or otherwise)
