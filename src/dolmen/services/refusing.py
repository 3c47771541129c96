"""Refusals: whoever asks learns that it did not work, the log learns why, and the id of the request joins the two."""

from __future__ import annotations

import logging
import secrets
from contextvars import ContextVar
from typing import TYPE_CHECKING

from dolmen.domain.errors import Code, DolmenError

if TYPE_CHECKING:
    from dolmen.store.contract import Person

_log = logging.getLogger(__name__)
_request: ContextVar[str] = ContextVar("request", default="")


def begin() -> str:
    """Gives the request that begins an id, which everything that is logged for it carries from now on."""
    _request.set(id := secrets.token_hex(4))
    return id


def reference() -> str:
    """The id of this request; a fresh one outside of any."""
    return _request.get() or secrets.token_hex(4)


def because(error: DolmenError, reason: str) -> DolmenError:
    """The error with a reason that the log tells and the answer does not."""
    error.add_note(reason)
    return error


def reason_of(error: DolmenError) -> str:
    """What the log tells of it."""
    return " ".join(getattr(error, "__notes__", ())) or error.code


def refused(
    code: Code, message: str, fix: str, *, reason: str, person: Person | None = None, address: str = ""
) -> DolmenError:
    """The error to raise, after a line in the log.

    Args:
        reason: one of our own words, never what somebody sent: what people type for a name is sometimes a password.
        person: whom it is about, if that is known.
    """
    id = reference()
    who = f" person={person.id}" if person is not None else ""
    where = f" from={address}" if address else ""
    _log.warning("refused id=%s reason=%s%s%s", id, reason, who, where)
    return DolmenError(code, message, fix, reference=id)
