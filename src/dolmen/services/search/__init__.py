"""How is a question answered? The one search behind every door, stage by stage.

The query is prepared before the transaction (`prepare`), searched inside it (`search`). Every leg that could not run is
named, never silently missing.
"""

from dolmen.services.search.first import Found, Result, search
from dolmen.services.search.query import Query, prepare

__all__ = ["Found", "Query", "Result", "prepare", "search"]
