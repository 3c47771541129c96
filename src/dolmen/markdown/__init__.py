"""Markdown as text that is never rendered again: where its blocks and properties stand, and how one is exchanged.

Every change is a splice of the source: what is not edited keeps its bytes, whatever editor wrote them. Stands on
`markdown-it-py` (CommonMark and tables) and PyYAML; nothing of them is seen outside.
"""

from dolmen.markdown.frontmatter import body_start
from dolmen.markdown.merging import Merged, merge_sources
from dolmen.markdown.parsing import Document, parse, title_of
from dolmen.markdown.properties import Properties, Property, read_properties, set_property
from dolmen.markdown.splicing import Spliced, append, prepend, replace_block

__all__ = [
    "Document",
    "Merged",
    "Properties",
    "Property",
    "Spliced",
    "append",
    "body_start",
    "merge_sources",
    "parse",
    "prepend",
    "read_properties",
    "replace_block",
    "set_property",
    "title_of",
]
