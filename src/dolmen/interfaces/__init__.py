"""The doors: protocols and screens that translate to and from the services, and decide nothing."""
