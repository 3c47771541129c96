"""What Dolmen knows about memory, as pure rules: standard library only, no clock, no randomness, no I/O."""
