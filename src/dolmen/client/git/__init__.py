"""What git says of a directory: which project it is, and the only way to call git."""

from dolmen.client.git.calling import call, filters_off
from dolmen.client.git.identity import (
    KEPT_FILE,
    OVERRIDE_FILE,
    OVERRIDE_FILES,
    Places,
    facts,
    installed,
    located,
    places,
    project,
    trusting,
)

__all__ = [
    "KEPT_FILE",
    "OVERRIDE_FILE",
    "OVERRIDE_FILES",
    "Places",
    "call",
    "facts",
    "filters_off",
    "installed",
    "located",
    "places",
    "project",
    "trusting",
]
