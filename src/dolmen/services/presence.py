"""Whether a browser is still signed in when what it asked for is done: requests may take long to arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dolmen.domain.errors import DolmenError

if TYPE_CHECKING:
    from dolmen.store.contract import Tx


def require_browser(tx: Tx, vault: str, person: str, session: str) -> None:
    """Refuses what a browser asked for that was signed out since its request began: whoever chooses another password,
    or signs a thief's browser out, ends also what that one is about to do. Until the transaction ends, nobody else
    changes how this person signs in.

    Args:
        session: the hash of the browser's secret.

    Raises:
        DolmenError: `forbidden`.
    """
    tx.people.hold(vault, person)
    if tx.people.browser(session) is None:
        raise DolmenError("forbidden", "You are not signed in any more.", "Sign in again.")
