"""How each client is connected. The one place: `serve`, `doctor`, `install` and docs/how-to/clients.md read it.

`recipes` are lines for people to copy; `targets` are the files that `dolmen install` writes.
"""

from dolmen.interfaces.clients.recipes import DEFAULT_URL, KEY_SHOWN, Recipe, Transport, recipes, stdio_recipes
from dolmen.interfaces.clients.targets import PLACES, TARGETS, Place, Target

__all__ = [
    "DEFAULT_URL",
    "KEY_SHOWN",
    "PLACES",
    "TARGETS",
    "Place",
    "Recipe",
    "Target",
    "Transport",
    "recipes",
    "stdio_recipes",
]
