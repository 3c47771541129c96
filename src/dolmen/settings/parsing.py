"""From what somebody wrote to the value of a setting, or a refusal that says what it takes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dolmen.domain.errors import Code, DolmenError

if TYPE_CHECKING:
    from dolmen.settings import Setting


def without_password(url: str) -> str:
    """The URL with its password replaced by `***`, also one in a query string."""
    url = re.sub(r"(?<=://)([^/@:\s]*):\S*@", r"\1:***@", url)
    return re.sub(r"(?i)((?:password|sslpassword)=)[^&\s]*", r"\1***", url)


def parse(row: Setting, raw: object, where: str) -> Any:
    """The value of a setting.

    Args:
        where: the place that it was said in, for the refusal.

    Raises:
        DolmenError: `configuration`, or `invalid-argument` for a flag.
    """
    value = _typed(row, raw, where)
    if row.choices and value not in row.choices:
        raise _refuse(row, where, raw, f"is one of {', '.join(row.choices)}")
    if row.least is not None and isinstance(value, int | float) and value < row.least:
        raise _refuse(row, where, raw, f"is at least {row.least:g}")
    if row.most is not None and isinstance(value, int | float) and value > row.most:
        raise _refuse(row, where, raw, f"is at most {row.most:g}")
    if row.name == "zone":
        _check_zone(row, str(value), where)
    return value


def _typed(row: Setting, raw: object, where: str) -> object:
    text = raw.strip() if isinstance(raw, str) else raw
    match row.type:
        case "text":
            if isinstance(text, str):
                return text.lower() if row.choices else text
            raise _refuse(row, where, raw, "is a text")
        case "path":
            return str(Path(str(text)).expanduser())
        case "integer" | "number":
            return _number(row, text, where)
        case "switch":
            return _switch(row, text, where)
        case "list":
            items = text if isinstance(text, list | tuple) else str(text).split(",")
            return tuple(str(item).strip() for item in items if str(item).strip())


def _number(row: Setting, raw: object, where: str) -> int | float:
    what = "is a whole number" if row.type == "integer" else "is a number"
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        raise _refuse(row, where, raw, what)
    try:
        return int(str(raw).replace("_", "")) if row.type == "integer" else float(raw)
    except ValueError:
        raise _refuse(row, where, raw, what) from None


def _switch(row: Setting, raw: object, where: str) -> bool:
    word = str(raw).lower()
    if word in ("1", "true", "yes", "on"):
        return True
    if word in ("0", "false", "no", "off"):
        return False
    raise _refuse(row, where, raw, "is `on` or `off`")


def _check_zone(row: Setting, value: str, where: str) -> None:
    from dolmen.domain.timeframe import zone_of

    try:
        zone_of(value)
    except DolmenError:
        raise _refuse(row, where, value, "is an offset (`+09:00`) or a name (`Asia/Seoul`)") from None


def _refuse(row: Setting, where: str, raw: object, rule: str) -> DolmenError:
    """The refusal of a value; on the command line it is a mistake of the command line."""
    from dolmen.domain.secrets import redact

    shown = redact(without_password(str(raw)))[0][:100]
    said = "has a value that it does not take" if row.secret else f"does not take {shown!r}"
    code: Code = "invalid-argument" if where.startswith("--") else "configuration"
    return DolmenError(code, f"{where} {said}.", f"`{row.name}` {rule}. {row.help}")
