"""How is text turned into vectors? One contract, four ways: in process (e5, use), over HTTP, or not at all."""
