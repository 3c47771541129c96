"""Keeping memory true to the code: looking at what memories refer to, in the checkout where the agent works.

`sync` asks a desk (the server, or the store of this machine) what memories refer to, looks at the commit that is
checked out, and reports what it found. Two rules keep that honest (C-225): what a memory says is anchored only where
its file has no uncommitted changes, since it may speak of those; and an anchor is compared only where the history of
the checkout contains it, since an older or diverged checkout says nothing about it.

Starts fast: git and tree-sitter are asked only when there is something to look at.
"""

from dolmen.client.refs.desk import Desk, Served
from dolmen.client.refs.repository import Repository, open_repository
from dolmen.client.refs.syncing import Synced, sync

__all__ = ["Desk", "Repository", "Served", "Synced", "open_repository", "sync"]
