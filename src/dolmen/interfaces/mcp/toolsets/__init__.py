"""The faces of the one core: each package declares its tools and translates their arguments and results."""
