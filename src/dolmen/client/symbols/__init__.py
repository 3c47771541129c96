"""Where is a symbol defined in a file, and is that definition still the same?

Answers come from tree-sitter and the grammar of the file's language. Both are the optional extra `code`; nothing is
loaded before the first file is read, and nothing is ever downloaded.
"""

from dolmen.client.symbols.definitions import Definition, definitions
from dolmen.client.symbols.hashing import SCHEME, combined, same, short_hash
from dolmen.client.symbols.languages import LANGUAGES, installed, language_of, missing
from dolmen.client.symbols.reading import Reader

__all__ = [
    "LANGUAGES",
    "SCHEME",
    "Definition",
    "Reader",
    "combined",
    "definitions",
    "installed",
    "language_of",
    "missing",
    "same",
    "short_hash",
]
