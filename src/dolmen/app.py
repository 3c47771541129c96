"""The composition root: from settings to a working Dolmen. The only module that names concrete classes.

What a command does not need is not imported: without `models`, no model is looked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dolmen.domain.errors import DolmenError
from dolmen.domain.values import SECOND
from dolmen.services.journal import JournalBuffer
from dolmen.services.runtime import Options, Runtime
from dolmen.settings import Settings
from dolmen.store.opening import open_store

if TYPE_CHECKING:
    from types import TracebackType

    from dolmen.models.chat import Chat
    from dolmen.models.choose import Choice
    from dolmen.models.reranker.choose import RerankerChoice
    from dolmen.services.upkeep import Upkeep


@dataclass(slots=True)
class App:
    """Everything that is open, until `close`."""

    settings: Settings
    runtime: Runtime
    model: Choice | None = None
    """The embedder and why it was chosen; None when the application was opened without models."""
    _upkeep: Upkeep | None = field(default=None, repr=False)

    @property
    def upkeep(self) -> Upkeep:
        """The background thread of this process; not started."""
        if self._upkeep is None:
            from dolmen.services.upkeep import Upkeep

            self._upkeep = Upkeep(self.runtime, keep_events_days=self.settings.keep_events_days)
        return self._upkeep

    def close(self) -> None:
        """Ends the background work, writes what waits, and closes the store. Harmless to repeat."""
        if self._upkeep is not None:
            self._upkeep.stop()
        self.runtime.journal.close()
        if self.runtime.chat is not None:
            self.runtime.chat.close()
        if self.model is not None:
            self.model.embedder.close()
        if self.runtime.reranker is not None:
            self.runtime.reranker.close()
        self.runtime.store.close()

    def __enter__(self) -> App:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def open_app(settings: Settings, *, models: bool = True) -> App:
    """Opens the store that the settings name (making and migrating it as needed) and what works on it.

    Args:
        models: False for work that embeds nothing; text written meanwhile gets its vectors by the backfill.

    Raises:
        DolmenError: `configuration`, `store-too-new`, `store-unsafe`, `store-busy` or `unavailable`.
    """
    if models:
        from dolmen.models.memory import share_arena

        share_arena()
    model = choose_model(settings) if models else None
    reranker = choose_reranker(settings) if models else None
    store = open_store(settings.database, migrating=settings.auto_migrate)
    runtime = Runtime(
        store=store,
        embedder=model.embedder if model and settings.embedder != "none" else None,  # off is no degradation
        journal=JournalBuffer(store),
        options=Options(
            vault=settings.vault,
            zone=settings.zone or "UTC",
            inline_embeddings=settings.inline_embeddings,
            search_max_distance=settings.search_max_distance,
            rerank_top=settings.rerank_top,
            chat_timeout=settings.chat_timeout,
            classify_timeout=settings.chat_classify_timeout,
            classify=settings.classify,
            extract=settings.extract,
            extract_policy=settings.extract_policy,
            extract_after=settings.extract_after * SECOND,
            consolidate=settings.consolidate,
        ),
        reranker=reranker.reranker if reranker else None,
        chat=choose_chat(settings) if models else None,
    )
    return App(settings, runtime, model)


def choose_chat(settings: Settings) -> Chat | None:
    """The chat model that the settings name; None without one. Nothing is sent.

    Raises:
        DolmenError: `configuration` for an address without a model name.
    """
    if not settings.chat_url:
        return None
    from dolmen.models.chat import ChatEndpoint, HttpChat

    if not settings.chat_model:
        raise DolmenError(
            "configuration", "The chat endpoint has no model name.", "Set DOLMEN_CHAT_MODEL, or unset DOLMEN_CHAT_URL."
        )
    return HttpChat(
        ChatEndpoint(
            settings.chat_url,
            settings.chat_model,
            settings.chat_key or None,
            settings.chat_timeout,
            settings.chat_reasoning,
        )
    )


def choose_model(settings: Settings) -> Choice:
    """The embedder that the settings name, or the best that there is; not loaded.

    Raises:
        DolmenError: `configuration`.
    """
    from dolmen.models.choose import EmbedderSettings, choose

    return choose(
        EmbedderSettings(
            embedder=settings.embedder,
            url=settings.embeddings_url or None,
            key=settings.embeddings_key or None,
            model=settings.embeddings_model or None,
            dimensions=settings.embeddings_dimensions,
            query_prefix=settings.embeddings_query_prefix,
            document_prefix=settings.embeddings_document_prefix,
            name=settings.embeddings_name,
            threads=settings.embedder_threads,
        )
    )


def choose_reranker(settings: Settings) -> RerankerChoice | None:
    """The reranker that the settings name, not connected; None when they name none."""
    if not settings.rerank_url:
        return None
    from dolmen.models.reranker import choose

    return choose.choose_reranker(
        choose.RerankerSettings(settings.rerank_url, settings.rerank_key, settings.rerank_model, settings.rerank_scores)
    )
