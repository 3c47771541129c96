"""The embedding model: which one, why, and whether it works."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.cli.commands.doctor.finding import Finding, failed, ok, warn

if TYPE_CHECKING:
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
    for fact in facts:
        said = f"{fact.name}: {fact.value}"
        yield ok("model", said) if fact.good else warn("model", said, fact.fix or "Search goes by words until then.")
