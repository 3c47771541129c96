"""What the store's parts promise each other, and what only one engine has."""
