"""The core toolset: the best of every contract in thirteen flat tools, declared in `face`."""
