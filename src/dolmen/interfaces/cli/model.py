"""The model for a command that ends soon: loaded now, and given what waits, so that its search is as good as any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dolmen.models.contract import ModelUnavailable

if TYPE_CHECKING:
    from dolmen.interfaces.cli.here import Here
    from dolmen.services.runtime import Runtime

CATCH_UP = 256
"""Passages without a vector that a search embeds first; a longer queue is the server's, or `dolmen reindex`'s."""


def awaken(here: Here, rt: Runtime) -> None:
    """Loads the model and embeds a short queue. Without a model, says so and goes on."""
    if rt.embedder is None or not has_model(rt):
        return
    from dolmen.services.upkeep import backfill

    progress = here.out.progress("embedding")
    try:
        rt.embedder.embed_query("dolmen")
        backfill(rt, CATCH_UP, progress)
    except ModelUnavailable as failure:
        here.out.warn(failure.message)
    finally:
        progress.end()


def has_model(rt: Runtime) -> bool:
    """Whether there is a model, or an endpoint that has not told its size yet."""
    return rt.embedder is not None and (rt.embedder.dim > 0 or rt.embedder.ready)
