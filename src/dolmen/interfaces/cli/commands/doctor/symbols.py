"""The grammars that find the symbols of code references."""

from __future__ import annotations

from collections.abc import Iterator

from dolmen.interfaces.cli.commands.doctor.finding import Finding, ok


def symbols() -> Iterator[Finding]:
    """Files are followed without them, so a missing one is no fault."""
    from dolmen.client.symbols import LANGUAGES, missing

    lacking = missing()
    if not lacking:
        grammars = len({each.module for each in LANGUAGES})
        yield ok("code", f"symbols that memories mention are followed in {grammars} languages")
        return
    extra = "the extra `code` finds symbols too (docs/how-to/keep-memory-true-to-the-code.md)"
    if len(lacking) == len(LANGUAGES):
        yield ok("code", f"files that memories mention are followed, their symbols stay pending: {extra}")
    else:
        yield ok("code", f"symbols stay pending in {', '.join(lacking)}: {extra}")
