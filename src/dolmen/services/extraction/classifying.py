"""The kind of a memory that was stored without one (C-276)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dolmen.domain.extraction import KIND_OF
from dolmen.domain.memory import Kind
from dolmen.models.contract import ModelUnavailable
from dolmen.services.extraction.asking import classification
from dolmen.services.runtime import Runtime

TypeSource = Literal["agent", "model", "superseded", "default"]
"""Who named a memory's kind; kept as `attrs.type_source` by the toolsets that ask."""


@dataclass(frozen=True, slots=True)
class Classified:
    kind: Kind
    source: TypeSource


def classify(rt: Runtime, content: str, default: Kind, *, in_project: bool) -> Classified:
    """The kind that the chat model names for a statement, or the default: without a model, with `classify` off, when it
    fails, and when it takes longer than `chat_classify_timeout` (15 s). Never raises, and is never called inside a
    transaction.

    Outside of a project there are no decisions, conventions and code: what the model calls so gets the default.
    """
    if rt.chat is None or not rt.options.classify:
        return Classified(default, "default")
    try:
        answer = rt.chat.ask(classification(content, in_project=in_project), rt.options.classify_timeout)
    except ModelUnavailable:
        return Classified(default, "default")
    kind = KIND_OF[answer["kind"]]
    if not in_project and kind not in ("preference", "fact"):
        return Classified(default, "default")
    return Classified(kind, "model")
