"""One file (or folder) for each family of commands."""
