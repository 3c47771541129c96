"""How well does a text answer a question? A cross-encoder behind an endpoint; without one, the search's own order."""
