"""What a caller meant by the arguments that came: decoded where clients encode too much, then checked.

Clients send arrays as JSON strings (B091), whole argument objects as one string (B093), numbers and booleans as text,
and null for absent. All of that is understood; anything beyond plain decoding is said in `notes`. Unknown arguments
are refused, never dropped (B132).
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.mcp.registry import Tool
from dolmen.interfaces.mcp.wire import without_halves

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

Json = dict[str, Any]

_DEEPEST = 64
"""Levels of lists and objects inside one argument."""
_LARGEST = 2**63 - 1
"""The largest whole number that both engines store."""
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_NAMES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def understand(tool: Tool, given: Mapping[str, Any] | None) -> tuple[Json, list[str]]:
    """The checked arguments of a call, and what was understood otherwise than it was written.

    Raises:
        DolmenError: `invalid-argument`, naming the argument, what was expected and what came.
    """
    notes: list[str] = []
    unwrapped = _unwrapped(tool, dict(given or {}), notes)
    args = {without_halves(name): value for name, value in unwrapped.items()}
    properties = tool.schema["properties"]
    _refuse_unknown(args, properties, "")
    reader = _Reader(notes, frozenset(tool.texts))
    understood: Json = {}
    for name, value in args.items():
        schema = properties[name]
        if value is None and "type" in schema:
            continue
        if name == tool.itemwise:
            understood[name] = _items(reader, tool, name, value)
        elif name in tool.loose:
            understood[name] = _sound(_whole(value, name), name)
        else:
            understood[name] = _sound(reader.read(schema, _whole(value, name), name), name)
    _check(tool, understood)
    return understood, notes


def read_as(schema: Mapping[str, Any], value: Any, name: str) -> Any:
    """One value as the schema asks for it, decoded like an argument; what cannot be read stays as it came.

    Raises:
        DolmenError: `invalid-argument` for a number that is none.
    """
    return _sound(_Reader([], frozenset()).read(schema, _whole(value, name), name), name)


def _unwrapped(tool: Tool, args: Json, notes: list[str]) -> Json:
    """The arguments inside a single unknown argument that holds all of them (B093)."""
    if len(args) != 1:
        return args
    ((name, value),) = args.items()
    inner = _decoded(value, dict) if isinstance(value, str) else value
    if name in tool.schema["properties"] or not isinstance(inner, dict):
        return args
    notes.append(f"The arguments were read from inside {name!r}.")
    return inner


def _refuse_unknown(args: Mapping[str, Any], properties: Mapping[str, Any], where: str) -> None:
    unknown = [name for name in args if name not in properties]
    if not unknown:
        return
    near = difflib.get_close_matches(unknown[0], properties, 1)
    hint = f" Did you mean {near[0]}?" if near else ""
    names = ", ".join(repr(_short(name)) for name in unknown[:5])
    raise DolmenError(
        "invalid-argument",
        f"Unknown argument {names}{f' in {where}' if where else ''}.{hint}",
        f"Known: {', '.join(properties) or 'none'}.",
    )


def _items(reader: _Reader, tool: Tool, name: str, value: Any) -> list[Any]:
    """The items of an array whose items fail alone: each one checked, or the error that refuses it."""
    schema = tool.schema["properties"][name]
    listed = reader.listed(schema, value if isinstance(value, list) else _sound(_whole(value, name), name), name)
    if not isinstance(listed, list):
        raise _mismatch(name, schema, value)
    results: list[Any] = []
    for position, item in enumerate(listed):
        where = f"{name}[{position}]"
        try:
            read = _sound(reader.read(schema["items"], _whole(item, where), where), where)
            for error in _validator(tool.toolset, tool.name, name).iter_errors(read):
                raise _refusal(error, where)
            results.append(read)
        except DolmenError as error:
            results.append(error)
    return results


class _Reader:
    """Reads values as their schema asks for them; what cannot be read stays as it came, for the check to refuse."""

    def __init__(self, notes: list[str], texts: frozenset[str]) -> None:
        self.notes = notes
        self.texts = texts

    def read(self, schema: Mapping[str, Any], value: Any, where: str) -> Any:
        match schema.get("type"):
            case "array":
                listed = self.listed(schema, value, where)
                if not isinstance(listed, list):
                    return listed
                return [self.read(schema["items"], item, f"{where}[{i}]") for i, item in enumerate(listed)]
            case "object":
                return self._object(schema, value, where)
            case "integer" | "number":
                return _number(schema["type"], value)
            case "boolean":
                return self._boolean(value, where)
            case "string" if "enum" in schema:
                return self._word(schema["enum"], value, where)
            case _:
                return value

    def listed(self, schema: Mapping[str, Any], value: Any, where: str) -> Any:
        """A list from a JSON string, from words between commas, or from a single item."""
        if isinstance(value, list):
            return value
        if isinstance(value, str):
            decoded = _decoded(value, list, dict)
            if isinstance(decoded, list):
                return decoded
            if isinstance(decoded, dict):
                value = decoded
            elif not value.strip():
                return []
            elif schema["items"].get("type") == "string":
                words = [value] if where in self.texts else [w for part in value.split(",") if (w := part.strip())]
                self.notes.append(f"{where} was understood as {json.dumps(words, ensure_ascii=False)}.")
                return words
        if isinstance(value, dict) and schema["items"].get("type") == "object":
            self.notes.append(f"{where} was understood as a list of one.")
            return [value]
        return value

    def _object(self, schema: Mapping[str, Any], value: Any, where: str) -> Any:
        if isinstance(value, str):
            decoded = _decoded(value, dict)
            value = value if decoded is None else decoded
        properties = schema.get("properties")
        if not isinstance(value, dict) or properties is None:
            return value
        _refuse_unknown(value, properties, where)
        return {
            name: self.read(properties[name], inner, f"{where}.{name}")
            for name, inner in value.items()
            if inner is not None
        }

    def _boolean(self, value: Any, where: str) -> Any:
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            return value
        word = str(value).strip().lower()
        if word not in _TRUE + _FALSE:
            return value
        read = word in _TRUE
        if value not in ("true", "false"):
            self.notes.append(f"{where} was understood as {str(read).lower()}.")
        return read

    def _word(self, allowed: Iterable[str], value: Any, where: str) -> Any:
        if not isinstance(value, str) or value in allowed:
            return value
        word = value.strip().lower()
        if word not in allowed:
            return value
        self.notes.append(f"{where} was understood as {word!r}.")
        return word


def _number(kind: str, value: Any) -> Any:
    if isinstance(value, str):
        try:
            read = json.loads(value.strip())
        except (ValueError, RecursionError):
            return value
        if isinstance(read, bool) or not isinstance(read, (int, float)):
            return value
        value = read
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _decoded(text: str, *kinds: type) -> Any:
    """What a JSON string holds, when it is of one of the kinds; None otherwise.

    Its half surrogate pairs become U+FFFD here: the message around it was repaired before it was decoded.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = _whole(json.loads(text), "")
    except (ValueError, RecursionError, DolmenError):
        return None
    return value if isinstance(value, kinds) else None


def _whole(value: Any, where: str, depth: int = 0) -> Any:
    """The value with U+FFFD for every half surrogate pair; refuses what is nested too deeply to walk."""
    if depth > _DEEPEST:
        raise DolmenError(
            "invalid-argument", f"{where} is nested more than {_DEEPEST} levels deep.", f"Flatten {where} or send text."
        )
    match value:
        case str():
            return without_halves(value)
        case list():
            return [_whole(item, where, depth + 1) for item in value]
        case dict():
            return {without_halves(str(key)): _whole(item, where, depth + 1) for key, item in value.items()}
    return value


def _sound(value: Any, where: str) -> Any:
    """The value, when all its numbers are ones that can be reckoned with and stored."""
    match value:
        case float() if not math.isfinite(value):
            raise _no_number(where, "a finite number", str(value))
        case int() if not -_LARGEST <= value <= _LARGEST:
            raise _no_number(where, f"a number of at most {_LARGEST}", "beyond that")
        case list():
            for position, item in enumerate(value):
                _sound(item, f"{where}[{position}]")
        case dict():
            for name, item in value.items():
                _sound(item, f"{where}.{_short(name)}")
    return value


def _no_number(where: str, expected: str, came: str) -> DolmenError:
    return DolmenError(
        "invalid-argument", f"{where} must be {expected}; it was {came}.", f"Correct {where} and call again."
    )


# --------------------------------------------------------------------------------------------------------------- check
@cache
def _validator(toolset: str, name: str, item_of: str = "") -> Validator:
    # Imported late: it takes longer to load than the handshake may.
    from jsonschema import Draft202012Validator

    from dolmen.interfaces.mcp.registry import face

    tool = face(toolset).by_name[name]
    if item_of:
        return Draft202012Validator(tool.schema["properties"][item_of]["items"])
    properties = dict(tool.schema["properties"])
    if tool.itemwise:
        properties[tool.itemwise] = {"type": "array"}
    properties.update({name: {} for name in tool.loose})
    return Draft202012Validator({**tool.schema, "properties": properties})


def _check(tool: Tool, args: Json) -> None:
    for error in _validator(tool.toolset, tool.name).iter_errors(args):
        raise _refusal(error, "")


def _refusal(error: ValidationError, where: str) -> DolmenError:
    for step in error.absolute_path:
        where += f"[{step}]" if isinstance(step, int) else f".{step}" if where else str(step)
    schema: Any = error.schema
    value: Any = error.instance
    if error.validator == "required":
        missing = next(name for name in schema["required"] if name not in value)
        needed = f"{where}.{missing}" if where else missing
        shape = _expected(schema["properties"][missing])
        return DolmenError("invalid-argument", f"{needed} is missing.", f"Pass {needed}: {shape}.")
    if error.validator in ("type", "enum"):
        return _mismatch(where, schema, value)
    return DolmenError("invalid-argument", f"{where}: {_short(error.message)}", f"Correct {where} and call again.")


def _mismatch(where: str, schema: Mapping[str, Any], value: Any) -> DolmenError:
    came = type(value).__name__ if isinstance(value, (dict, list)) else f"{_short(json.dumps(value, default=str))}"
    came = {"dict": "an object", "list": "a list"}.get(came, came)
    return DolmenError(
        "invalid-argument", f"{where} must be {_expected(schema)}; it was {came}.", f"Correct {where} and call again."
    )


def _expected(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    if schema.get("type") == "array":
        items = schema.get("items", {})
        inner = ", ".join(items.get("required", ())) if items.get("type") == "object" else items.get("type", "")
        if items.get("type") == "object":
            return f"a list of objects with {inner}" if inner else "a list of objects"
        return "a list of text" if inner == "string" else "a list"
    return _NAMES.get(str(schema.get("type")), "a value")


def _short(text: str, limit: int = 80) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
