"""Session hooks: what an agent's client runs at the start, during and at the end of a session (C-217 to C-222).

`adapters/` reads each client's payloads and answers in its form, `running` decides what an event does, `log` and
`spool` keep what must not be lost, `summary` says what a session was about, `framing` how the brief is given to a
model. Nothing here may stop a session: whatever goes wrong, the hook ends with exit code 0.
"""
