"""Errors in the words of the command line: the services speak of tools and their arguments, people type commands."""

from __future__ import annotations

_WORDS = (
    ("`edit` with op `restore` brings it back", "`dolmen memory undo REF` brings it back"),
    ("(`edit` with op `restore`)", "(`dolmen memory undo REF`)"),
    ("Check the ref, or recall to find it again.", "Check it: `dolmen memory list` and `search` show refs."),
    ("Recall to find them again.", "`dolmen memory list` and `search` show refs."),
    ("then apply with `force`, or reject it", "then `dolmen review apply --force`, or `reject`"),
    ("List what is pending.", "`dolmen review list` shows what waits."),
    ("edit again with its sha", "edit again"),
    ("Pass `version`, or nothing.", "Pass --version, or nothing."),
    ("Read it without `section`.", "Show it whole."),
    ("edit with op replace_block and ref", "`dolmen note edit`"),
    ("Read the note without `section`.", "Show it whole."),
    ("Check the address with browse or recall.", "`dolmen note list` shows addresses."),
    (
        "call remember to create the note: edit and link change a note that already exists and never create one.",
        "`dolmen note new` makes one.",
    ),
    ("call edit with ref", "`dolmen note edit --append` with ref"),
)


def in_words(text: str) -> str:
    """The text with what a person would type in place of what an agent would call."""
    for said, meant in _WORDS:
        text = text.replace(said, meant)
    return text
