"""How well the right memory is found, on sets that nobody here wrote: `python -m bench.retrieval`."""
