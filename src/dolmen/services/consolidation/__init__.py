"""Which memories say the same, contradict each other, or can be one? Found and proposed; people decide."""

from dolmen.services.consolidation.digests import KIND as DIGEST
from dolmen.services.consolidation.judging import KIND as JUDGE
from dolmen.services.consolidation.proposing import AGENT
from dolmen.services.consolidation.running import HANDLERS, Found, Report, consolidate, due

__all__ = ["AGENT", "DIGEST", "HANDLERS", "JUDGE", "Found", "Report", "consolidate", "due"]
