"""What Dolmen does: one file per family of use cases.

Every public operation reads the same: `operation(rt, actor, request) -> result`. It asks permission, prepares what
needs no transaction (checks, embeddings), opens one transaction, calls small functions that take it, records, commits.
"""
