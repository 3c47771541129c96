"""Other programs' configuration files, changed in place: what is not Dolmen's stays as it was, to the byte.

Each format has a module that takes a text and gives a text; `files` reads and writes them. After every edit the result
is read again and compared with what it must say; an edit that cannot be made that way is refused, never guessed.
"""
