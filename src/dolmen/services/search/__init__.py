"""How is a question answered? The one search behind every door, stage by stage.

`query` prepares the question before any transaction, `first` ranks inside one, `reranking` lets a cross-encoder judge
the best between two, `neighbours` adds what is linked to them, `weighing` lays on what else is known of a memory. Every
leg that could not run is named, never silently missing.
"""

from dolmen.services.search.exact import exact
from dolmen.services.search.first import NOTHING, Found, Result, search
from dolmen.services.search.query import Query, prepare
from dolmen.services.search.reranking import answered
from dolmen.services.search.when import of_then, when

__all__ = ["NOTHING", "Found", "Query", "Result", "answered", "exact", "of_then", "prepare", "search", "when"]
