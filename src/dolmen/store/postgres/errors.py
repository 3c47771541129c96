"""From the driver's errors to the product's, by SQLSTATE. The server's own words are for the log: they hold values."""

from __future__ import annotations

import logging

import psycopg
from psycopg.errors import Error

from dolmen.domain.errors import Code, DolmenError

log = logging.getLogger(__name__)

ABORTED = "25P02"
"""The SQLSTATE of every statement after a failed one in the same transaction."""

Refusal = tuple[Code, str, str]

_UNREACHABLE: Refusal = (
    "unavailable",
    "The PostgreSQL server cannot be reached.",
    "Check that it runs and that the host, port and network in DOLMEN_DATABASE are right, then try again.",
)
_REFUSED: Refusal = (
    "configuration",
    "PostgreSQL refused the name or the password.",
    "Check user and password in DOLMEN_DATABASE (or PGPASSWORD, or ~/.pgpass).",
)
MISSPELT: Refusal = (
    "configuration",
    "DOLMEN_DATABASE is not a URL that PostgreSQL understands.",
    "Write postgresql://user:password@host:5432/database; characters such as @ / : # ? in the password as %40.",
)
_BUSY: Refusal = ("store-busy", "The database is busy with other work.", "Try again in a moment; nothing was stored.")
_FULL: Refusal = (
    "unavailable",
    "The database server has run out of space or memory.",
    "Free some on the server, then try again.",
)
_CONFLICT: Refusal = (
    "conflict",
    "The change collides with one that is already stored.",
    "Read the current state, then decide whether it is still needed.",
)
_UNFIT: Refusal = (
    "invalid-argument",
    "A value cannot be stored: it holds a NUL, half a surrogate pair, or a number beyond 64 bits.",
    "Replace such characters with U+FFFD first.",
)

_BY_STATE: dict[str, Refusal] = {
    # the full five characters first, then their class
    "57014": _BUSY,  # query_canceled: statement_timeout
    "55P03": _BUSY,  # lock_not_available: lock_timeout
    "40001": _BUSY,  # serialization_failure
    "40P01": _BUSY,  # deadlock_detected
    "25P03": _BUSY,  # idle_in_transaction_session_timeout
    "53300": ("store-busy", "The PostgreSQL server has no connection left.", "Raise max_connections or stop a client."),
    "53": _FULL,
    "58030": _FULL,
    "57P": _UNREACHABLE,  # shut down, crashed, starting
    "08": _UNREACHABLE,
    "28": _REFUSED,
    "3D000": (
        "configuration",
        "The database that DOLMEN_DATABASE names does not exist.",
        "Create it (`createdb NAME`), or correct the name.",
    ),
    "42501": (
        "configuration",
        "The database role may not do this.",
        "Let the role own the database: `ALTER DATABASE name OWNER TO role`.",
    ),
    "42P07": (
        "configuration",
        "The database already has tables of these names that Dolmen did not make.",
        "Give Dolmen a database of its own, or a schema: append `?options=-csearch_path%3Ddolmen` to the URL.",
    ),
    "25006": (
        "unavailable",
        "The transaction or the server takes no writes.",
        "Point DOLMEN_DATABASE at the primary server; standby servers only read.",
    ),
    "42704": (
        "configuration",
        "PostgreSQL does not find the types of the extension `vector`.",
        "Put the schema that the extension is in on the search path of the role.",
    ),
    "22021": _UNFIT,  # character_not_in_repertoire
    "22P05": _UNFIT,  # untranslatable_character
    "22003": _UNFIT,  # numeric_value_out_of_range
    "23503": (  # foreign_key_violation
        "conflict",
        "The memory that this belongs to was purged by somebody else meanwhile.",
        "Read the current state, then decide whether it is still needed.",
    ),
    "23": _CONFLICT,
}


def translate(error: Exception, where: str) -> DolmenError:
    """The error to raise in place of the driver's; `where` names the query for the log.

    Args:
        error: what psycopg, or Python while encoding a parameter, raised.
        where: the query's name.
    """
    if isinstance(error, DolmenError):
        return error
    if isinstance(error, UnicodeEncodeError | OverflowError | psycopg.DataError) and not _state(error):
        return DolmenError(*_UNFIT)
    state = _state(error)
    for length in (5, 3, 2):
        if len(state) >= length and (known := _BY_STATE.get(state[:length])):
            log.info("%s: SQLSTATE %s", where, state)
            return DolmenError(*known)
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) and not state:
        return _connecting(error)
    log.error("%s failed: SQLSTATE %s", where, state or type(error).__name__, exc_info=error)
    return DolmenError("internal", "The database refused a statement.", "See the server's log for the cause.")


def lost_while_committing() -> DolmenError:
    """Nobody can know whether the server had committed when the connection broke."""
    return DolmenError(
        "unavailable",
        "The connection broke while the change was being stored: it may or may not be there.",
        "Look whether it is there, then repeat it; with the same idempotency key it is stored at most once.",
    )


def _state(error: Exception) -> str:
    return (error.sqlstate or "") if isinstance(error, Error) else ""


def _connecting(error: Exception) -> DolmenError:
    """libpq gives no SQLSTATE for a failed connection, only the server's (possibly translated) words."""
    words = str(error)
    if "password" in words or "authentication" in words or "pg_hba" in words or "role" in words:
        return DolmenError(*_REFUSED)
    if "does not exist" in words and "database" in words:
        return DolmenError(*_BY_STATE["3D000"])
    if "invalid" in words:
        return DolmenError(*MISSPELT)
    return DolmenError(*_UNREACHABLE)
