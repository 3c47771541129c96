"""Taking everything that people and agents wrote from one store to another, without loss (B145, B147).

The format is JSON Lines, one object a line, each with a `type`; docs/reference/export.md describes it. Nothing is held
in memory but a line at a time, so the size of a store does not matter.
"""

from dolmen.services.transfer.export import EXCLUDED, export
from dolmen.services.transfer.imports import ImportReport, Refused, import_
from dolmen.services.transfer.lines import FORMAT, VERSION

__all__ = ["EXCLUDED", "FORMAT", "VERSION", "ImportReport", "Refused", "export", "import_"]
