"""How many model tokens a text costs, without a tokenizer."""

from dolmen.domain.tokens.estimating import estimate

__all__ = ["estimate"]
