"""Does Dolmen speak the protocol as others understand it? The official suite, the Inspector, and real clients."""
