"""How does Dolmen answer over HTTP? One ASGI application: MCP, health, metrics; everything is checked at its door."""
