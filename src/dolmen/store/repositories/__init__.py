"""The portable repositories: each implements one port of `store.contract` over a session, in portable SQL."""
