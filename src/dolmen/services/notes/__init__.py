"""Notes: Markdown documents whose blocks are memories. One file for each family of use cases."""
