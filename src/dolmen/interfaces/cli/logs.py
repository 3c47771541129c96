"""Log lines: always to standard error, for people or as JSON, and into a file when a setting names one."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

from dolmen.domain.errors import DolmenError
from dolmen.domain.secrets import redact

if TYPE_CHECKING:
    from dolmen.settings import Settings

_FILE_SIZE, _FILES = 5_000_000, 3
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_QUIET = ("mcp", "uvicorn.error", "httpx2", "httpcore2", "asyncio")
"""Loggers of libraries whose everyday lines say nothing to a user."""


def configure(settings: Settings) -> None:
    """Sets logging up for a process that stays.

    Raises:
        DolmenError: `configuration` for a log file that cannot be written.
    """
    level = getattr(logging, settings.log.upper())
    formatter = Json() if settings.log_format == "json" else Text()
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if settings.log_file:
        handlers.append(_file(Path(settings.log_file)))
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
    for handler in handlers:
        handler.setFormatter(formatter)
        root.addHandler(handler)
    root.setLevel(level)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(level, logging.WARNING) if level > logging.DEBUG else level)
    logging.captureWarnings(True)


def _file(path: Path) -> logging.Handler:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return RotatingFileHandler(path, maxBytes=_FILE_SIZE, backupCount=_FILES, encoding="utf-8", delay=False)
    except OSError as error:
        raise DolmenError(
            "configuration", f"The log file {path} cannot be written: {error}.", "Set DOLMEN_LOG_FILE to another place."
        ) from error


def _facts(record: logging.LogRecord) -> dict[str, object]:
    """What the caller passed as `extra`."""
    return {name: value for name, value in vars(record).items() if name not in _STANDARD}


class Text(logging.Formatter):
    """`2026-09-27T06:00:00Z info dolmen.http: message key=value`, a trace below it."""

    def format(self, record: logging.LogRecord) -> str:
        facts = "".join(f" {name}={value}" for name, value in _facts(record).items())
        name = record.name.removeprefix("dolmen.")
        line = f"{_time(record)} {record.levelname.lower()} {name}: {record.getMessage()}{facts}"
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return redact(line)[0]


class Json(logging.Formatter):
    """One object a line: time, level, logger, message, whatever the caller added, and `trace`."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redact(record.getMessage())[0],
            **_facts(record),
        }
        if record.exc_info:
            line["trace"] = redact(self.formatException(record.exc_info))[0]
        return json.dumps(line, ensure_ascii=False, default=str)


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
