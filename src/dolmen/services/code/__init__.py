"""What memories say of code, and whether it still holds.

The server cannot read repositories. It records what a memory mentions (`following`), lists that for clients that can
(`checking.targets`), and keeps what they found (`checking.report`); readers are shown it (`views`), and a search reads
the mark that a memory carries among its `attrs`.
"""
