"""How does a program without a browser sign in to a server, and stay signed in?

The way of every client of the server: from its refusal to its metadata, a registration, a code that the person enters
in a browser (RFC 8628), and tokens that are renewed.
"""
