"""Dolmen: one self-hosted memory for all the AI agents that a person or a team works with."""

__version__ = "0.1.0"
