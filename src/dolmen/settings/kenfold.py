"""Kenfold's environment variables, and the settings that say the same here.

They are read where Dolmen's own variable is not set, so that a machine that was set up for Kenfold keeps its choices.
What has no counterpart is named with the reason; the docs are generated from this table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

_KEYS = "dlm_"
"""How a key of Dolmen's begins."""

Values = Mapping[str, str]
"""Settings by name, as text."""


@dataclass(frozen=True, slots=True)
class Counterpart:
    """A variable of Kenfold's and what it is here."""

    variable: str
    settings: tuple[str, ...]
    """What says the same here; empty when nothing does."""
    read: Callable[[str], Values] | None
    """From the variable's value to those settings; None when it is not read."""
    says: str = ""
    """How it differs, or why it is not read."""


def _same(name: str) -> Callable[[str], Values]:
    return lambda value: {name: value}


def _address(value: str) -> Values:
    host, _, port = value.rpartition(":")
    return {"host": host.strip("[]"), "port": port}


def _auth(value: str) -> Values:
    return {"auth": {"apikey": "keys", "none": "auto"}.get(value.strip().lower(), value)}


def _dimensions(value: str) -> Values:
    return {"embeddings_dimensions": "1024"} if _true(value) else {}


def _level(value: str) -> Values:
    level = value.strip().lower()
    return {"log": "warning" if level == "warn" else level}


def _reasoning(value: str) -> Values:
    effort = value.strip().lower()
    return {"chat_reasoning": "" if effort == "omit" else effort}


def _true(value: str) -> bool:
    return value.strip().lower() in ("1", "t", "true")


def _one(variable: str, setting: str, says: str = "") -> Counterpart:
    return Counterpart(variable, (setting,), _same(setting), says)


def _none(variable: str, says: str, *settings: str) -> Counterpart:
    return Counterpart(variable, settings, None, says)


COUNTERPARTS: tuple[Counterpart, ...] = (
    _one("KENFOLD_AGENT", "agent"),
    Counterpart("KENFOLD_HTTP_ADDR", ("host", "port"), _address, "One address there, two settings here."),
    _one("KENFOLD_PUBLIC_URL", "public_url"),
    _one("KENFOLD_ALLOWED_HOSTS", "allowed_hosts", "Names besides the server's own."),
    Counterpart(
        "KENFOLD_AUTH",
        ("auth",),
        _auth,
        "`apikey` is `keys`. `none` is `auto`: without a key only from this machine, and never through a proxy.",
    ),
    _one("KENFOLD_EMBED_URL", "embeddings_url", "Not needed: a local model comes with Dolmen."),
    _one("KENFOLD_EMBED_MODEL", "embeddings_model"),
    _one("KENFOLD_EMBED_API_KEY", "embeddings_key"),
    Counterpart("KENFOLD_EMBED_DIMENSIONS", ("embeddings_dimensions",), _dimensions, "`true` asks for 1024."),
    _one("KENFOLD_EMBED_NAME", "embeddings_name"),
    _one(
        "KENFOLD_SEARCH_MAX_DISTANCE",
        "search_max_distance",
        "0.55 when unset there; here what is known of the model, since distances of two models mean different things.",
    ),
    _one("KENFOLD_RERANK_URL", "rerank_url"),
    _one("KENFOLD_RERANK_MODEL", "rerank_model"),
    _one("KENFOLD_RERANK_API_KEY", "rerank_key"),
    _one("KENFOLD_CHAT_URL", "chat_url"),
    _one("KENFOLD_CHAT_MODEL", "chat_model"),
    _one("KENFOLD_CHAT_API_KEY", "chat_key"),
    Counterpart(
        "KENFOLD_CHAT_REASONING",
        ("chat_reasoning",),
        _reasoning,
        "`none` when unset there and `KENFOLD_CHAT_URL` is set; `omit` sends no field, as no value does here.",
    ),
    _one("KENFOLD_EXTRACT", "extract"),
    _one("KENFOLD_EXTRACT_POLICY", "extract_policy"),
    _one("KENFOLD_CLASSIFY", "classify"),
    _one("KENFOLD_CONSOLIDATE", "consolidate"),
    _one("KENFOLD_OAUTH", "oauth"),
    _one("KENFOLD_OAUTH_DCR", "oauth_dcr"),
    _none("KENFOLD_DASHBOARD", "There is no dashboard; the pages for signing in come with a public address."),
    _one("KENFOLD_URL", "url", "Only beside a key of Dolmen's in `KENFOLD_API_KEY`; else it names Kenfold's server."),
    _one(
        "KENFOLD_API_KEY",
        "key",
        "Only a key of Dolmen's (`dlm_…`). Kenfold's (`kf_…`) open nothing here: make one with `dolmen key create`.",
    ),
    Counterpart(
        "KENFOLD_STATE_DIR",
        ("state_dir",),
        lambda value: {"state_dir": f"{value.rstrip('/')}/dolmen"},
        "In a folder `dolmen` of it, so that Kenfold's own files there stay apart.",
    ),
    _none(
        "KENFOLD_DATABASE_URL",
        "It names Kenfold's own database, which Dolmen leaves alone: take the memories along with `kenfold export` and "
        "`dolmen import`.",
        "database",
    ),
    _none("KENFOLD_DATABASE_PASSWORD", "As above; the password stands in the URL.", "database"),
    _one("KENFOLD_AUTO_MIGRATE", "auto_migrate"),
    Counterpart("KENFOLD_LOG_LEVEL", ("log",), _level),
)
"""Every variable that Kenfold documents."""

_DEFAULTS: tuple[tuple[str, str, str, str], ...] = (
    ("KENFOLD_EMBED_URL", "embeddings_url", "KENFOLD_EMBED_MODEL", "bge-m3"),
    ("KENFOLD_RERANK_URL", "rerank_url", "KENFOLD_RERANK_MODEL", "bge-reranker-v2-m3"),
    ("KENFOLD_CHAT_URL", "chat_url", "KENFOLD_CHAT_MODEL", "qwen3.5:4b"),
    ("KENFOLD_CHAT_URL", "chat_url", "KENFOLD_CHAT_REASONING", "none"),
)
"""What Kenfold asks an endpoint for when only its address is set: that variable, its setting, and the variable that is
left out with its default."""


def values(environment: Mapping[str, str], taken: Collection[str] = ()) -> Iterator[tuple[str, str, str]]:
    """(variable, setting, value) for everything that Kenfold's variables say here; an empty one says nothing.

    Args:
        taken: settings that Dolmen's own flags and variables have said. Where that is an endpoint's address, Kenfold's
            defaults for its own endpoint are not meant.
    """
    said = _said(environment)
    for address, setting, variable, default in _DEFAULTS:
        if address in said and setting not in taken:
            said.setdefault(variable, default)
    for each in COUNTERPARTS:
        if each.read is not None and each.variable in said:
            for setting, value in each.read(said[each.variable]).items():
                yield each.variable, setting, value


def unread(environment: Mapping[str, str]) -> list[Counterpart]:
    """The variables that are set and say nothing here, though something else could be said in their place."""
    known = _said(environment)
    left = [name for name, value in environment.items() if value.strip() and name not in known]
    return [each for each in COUNTERPARTS if each.variable in left or (each.variable in known and each.read is None)]


def _said(environment: Mapping[str, str]) -> dict[str, str]:
    """Kenfold's variables that have a value; its address and key only where the key is one of Dolmen's."""
    said = {name: value for name, value in environment.items() if name.startswith("KENFOLD_") and value.strip()}
    if not said.get("KENFOLD_API_KEY", "").strip().startswith(_KEYS):
        said.pop("KENFOLD_API_KEY", None)
        said.pop("KENFOLD_URL", None)
    return said
