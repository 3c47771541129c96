"""Where a browser may be sent back to after a person said yes.

An address is https anywhere, http on this machine's own loopback only, or an app's own scheme. Two loopback addresses
are the same whatever their port and whichever of the loopback names they use: native clients take a free port at run
time (RFC 8252 §7.3), and some register one name and come with another (B078).
"""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from dolmen.domain.oauth.errors import OAuthError

LIMIT = 2_000
"""Characters of an address."""
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_FORBIDDEN_WORDS = """
javascript data vbscript file blob about filesystem view-source ws wss ftp ftps mailto tel sms chrome chrome-extension
resource jar intent smb nfs sftp ssh telnet ldap shell search search-ms
"""
_FORBIDDEN_SCHEMES = frozenset(_FORBIDDEN_WORDS.split())
"""Schemes that run something, read something, or reach somebody else than the client."""
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
_HOST = re.compile(r"(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]*)?", re.IGNORECASE)
"""What else some browsers take for a host reads as another one on a page, or ends a rule of its policy."""
_PRINTABLE = re.compile(r"[\x21-\x7e]+")


def check_redirect(uri: str) -> str:
    """The address, when a client may register it.

    Raises:
        OAuthError: `invalid_redirect_uri`, saying what is wrong with it.
    """
    parts = _parts(uri)
    if parts.fragment or "#" in uri:
        raise _refused("has a fragment")
    if parts.username is not None or parts.password is not None:
        raise _refused("carries credentials")
    if parts.scheme in ("http", "https"):
        if not parts.hostname:
            raise _refused("names no host")
        if not _HOST.fullmatch(parts.netloc):
            raise _refused("names a host that no name can be")
        if parts.scheme == "http" and not _loopback(parts):
            raise _refused("uses http beyond this machine; use https")
    elif parts.scheme in _FORBIDDEN_SCHEMES or parts.scheme.startswith("ms-"):
        raise _refused(f"uses the scheme {parts.scheme}")
    elif not (parts.netloc or parts.path.strip("/")):
        raise _refused("is a scheme and nothing else")
    return uri


def matches(registered: str, asked: str) -> bool:
    """Whether an authorization request may use this address: the registered one to the letter, or, for loopback
    addresses, the same path and query at any port and under any name of the loopback."""
    if registered == asked:
        return True
    try:
        one, other = _parts(registered), _parts(asked)
    except OAuthError:
        return False
    if one.fragment or other.fragment or "@" in other.netloc:
        return False
    same = (one.scheme, one.path, one.query) == (other.scheme, other.path, other.query)
    return same and one.scheme == "http" and _loopback(one) and _loopback(other)


def is_loopback(uri: str) -> bool:
    """Whether an address is on the person's own machine."""
    try:
        parts = _parts(uri)
    except OAuthError:
        return False
    return parts.scheme in ("http", "https") and _loopback(parts)


def host_of(uri: str) -> str:
    """What a consent page shows of an address: its host, with a port that is not the scheme's own; for an app's own
    scheme, the scheme."""
    parts = _parts(uri)
    if parts.scheme not in ("http", "https"):
        return f"{parts.scheme}:"
    port = "" if parts.port in (None, 80 if parts.scheme == "http" else 443) else f":{parts.port}"
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{host}{port}"


def _parts(uri: str) -> SplitResult:
    if not uri:
        raise _refused("is empty")
    if len(uri) > LIMIT:
        raise _refused(f"is longer than {LIMIT} characters")
    if not _PRINTABLE.fullmatch(uri) or "\\" in uri:
        raise _refused("holds characters that an address cannot hold")
    try:
        parts = urlsplit(uri)
        parts.port  # noqa: B018 - raises for a port that is none
    except ValueError:
        raise _refused("is no address") from None
    if not _SCHEME.fullmatch(parts.scheme):
        raise _refused("is no absolute address")
    return parts


def _loopback(parts: SplitResult) -> bool:
    return parts.hostname in _LOOPBACK


def _refused(why: str) -> OAuthError:
    return OAuthError("invalid_redirect_uri", f"The redirect URI {why}.")
