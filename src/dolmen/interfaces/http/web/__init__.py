"""Pages for people: rendered here, complete without a script."""
