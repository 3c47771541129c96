"""Small constructors for JSON Schemas that every client can read: flat, explicit, and few tokens.

Some clients drop every tool when one schema has `anyOf` at its top, a `$ref`, or no `type: object` (B094).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
BOOLEAN: Schema = {"type": "boolean"}
OBJECT: Schema = {"type": "object"}
STRINGS: Schema = {"type": "array", "items": STRING}


def one_of(*values: str) -> Schema:
    """One of a closed set of words."""
    return {"type": "string", "enum": list(values)}


def many_of(values: Sequence[str]) -> Schema:
    """Any number of words of a closed set."""
    return {"type": "array", "items": one_of(*values)}


def said(schema: Schema, description: str, **more: Any) -> Schema:
    """The schema with a description, and defaults or bounds."""
    return {**schema, **more, "description": description}


def fields(properties: Mapping[str, Schema], *required: str) -> Schema:
    """An object inside another."""
    schema: Schema = {"type": "object", "properties": dict(properties)}
    return {**schema, "required": list(required)} if required else schema


def arguments(properties: Mapping[str, Schema], *required: str) -> Schema:
    """The arguments of a tool: one flat object, and nothing that is not named here."""
    return {**fields(properties, *required), "additionalProperties": False}
