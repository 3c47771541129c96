"""How true memory stays to code, on the history of a real repository."""
