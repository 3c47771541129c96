"""How long a call takes and what it costs, through a real client: `python -m bench.latency`."""
