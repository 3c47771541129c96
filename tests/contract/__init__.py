"""One suite holds every engine to `dolmen.store.contract`."""
