"""The embedded engine: one SQLite file that any number of processes on one machine open at once."""
