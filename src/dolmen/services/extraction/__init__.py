"""What of a session is worth keeping? A chat model proposes, every proposal is checked, and a person decides."""

from dolmen.services.extraction.classifying import Classified, classify
from dolmen.services.extraction.reading import AGENT, KIND, extract
from dolmen.services.extraction.scheduling import again, schedule

__all__ = ["AGENT", "KIND", "Classified", "again", "classify", "extract", "schedule"]
