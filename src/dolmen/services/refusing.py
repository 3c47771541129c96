"""Refusals at the sign-in: whoever asks learns that it did not work, the log learns why, and an id joins the two."""

from __future__ import annotations

import logging
import secrets
from typing import TYPE_CHECKING

from dolmen.domain.errors import Code, DolmenError

if TYPE_CHECKING:
    from dolmen.store.contract import Person

_log = logging.getLogger(__name__)


def refused(
    code: Code, message: str, fix: str, *, reason: str, person: Person | None = None, address: str = ""
) -> DolmenError:
    """The error to raise, after a line in the log.

    Args:
        reason: one of our own words, never what somebody sent: what people type for a name is sometimes a password.
        person: whom it is about, if that is known.
    """
    reference = secrets.token_hex(4)
    who = f" person={person.id}" if person is not None else ""
    where = f" from={address}" if address else ""
    _log.warning("refused id=%s reason=%s%s%s", reference, reason, who, where)
    return DolmenError(code, message, fix, reference=reference)
