"""What SQLite's errors mean for the caller, and what to do about them."""

from __future__ import annotations

import apsw

from dolmen.domain.errors import DolmenError


def busy() -> DolmenError:
    return DolmenError(
        "store-busy",
        "Another process kept the store busy for too long.",
        "Try again; if it stays, run `dolmen doctor` to see which processes use the store.",
    )


def translate(error: apsw.Error, location: str) -> DolmenError:
    """The refusal that the caller sees in place of a driver's error."""
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return busy()
        case apsw.NotADBError() | apsw.CorruptError():
            return DolmenError(
                "store-damaged",
                f"The store {location} is damaged: SQLite cannot read it.",
                "Move the file away and restore a backup, or import your last export into a new store.",
            )
        case apsw.FullError():
            return DolmenError(
                "unavailable", "The disk that holds the store is full.", f"Free space on the disk of {location}."
            )
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.AuthError():
            return DolmenError(
                "unavailable",
                f"{location} cannot be written.",
                "Check the owner and permissions of the file and its folder.",
            )
        case apsw.CantOpenError():
            return DolmenError(
                "unavailable",
                f"{location} cannot be opened.",
                "Check that the folder is there and that you may use it (`dolmen doctor`).",
            )
        case apsw.IOError():
            return DolmenError(
                "unavailable", f"The disk failed at {location}.", "Check the disk, then run `dolmen doctor`."
            )
        case apsw.ConstraintError():
            return DolmenError("conflict", "The store refused the row as it contradicts others.", "Read again first.")
    return DolmenError("internal", "The store failed in a way that nobody foresaw.", "")
