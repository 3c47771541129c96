"""From the bytes of an answer to a JSON object that is what was asked for, or nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from dolmen.models.chat.contract import Unanswered

_FIX = "Try again, or use another chat model; small ones often cannot keep to a form."
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"\A```(?:json)?\s*\n(.*)\n```\Z", re.DOTALL)


def content_of(body: bytes) -> str:
    """The text of a chat completion `{"choices": [{"message": {"content"}, "finish_reason"}]}`.

    Raises:
        Unanswered: another shape, no text, or an answer that was cut off.
    """
    try:
        choice = json.loads(body)["choices"][0]
        content, end = choice["message"]["content"], choice.get("finish_reason")
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as failure:
        raise Unanswered("its answer is no chat completion", _FIX) from failure
    if not isinstance(content, str) or not content.strip():
        raise Unanswered("its answer has no text", _FIX)
    if end == "length":
        raise Unanswered("its answer was cut off", _FIX)
    return content


def parsed(content: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The answer as an object of that schema. What a model thought aloud before it, and one fence around all of it, are
    taken off; any other word beside it refuses it.

    Raises:
        Unanswered: no JSON, JSON that says a name twice, no object, or not of the schema.
    """
    from jsonschema import Draft202012Validator

    text = _THOUGHT.sub("", content).strip()
    fenced = _FENCE.match(text)
    try:
        answer = json.loads(fenced[1] if fenced else text, parse_constant=_refuse, object_pairs_hook=_once)
    except (ValueError, RecursionError) as failure:
        raise Unanswered("its answer is not JSON", _FIX) from failure
    if not isinstance(answer, dict) or not Draft202012Validator(schema).is_valid(answer):
        raise Unanswered("its answer does not have the form that was asked for", _FIX)
    return answer


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a name stands twice")
    return dict(pairs)
