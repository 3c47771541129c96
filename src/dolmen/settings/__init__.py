"""Every setting: one table, three places to say it, one order.

A flag wins over an environment variable, that over the configuration file, that over the default. The environment
variable of `port` is `DOLMEN_PORT`; in the file (TOML) it is `port = 7077`, and `[embeddings] url = …` says the same as
`embeddings_url = …`. The reference in the docs is made from this table. Variables of Kenfold's that say the same as a
setting count where Dolmen's own does not (`kenfold.py`).
"""

# ruff: noqa: RUF009 - `_row` makes a dataclass field; the table is the class body

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from dolmen.domain.errors import DolmenError
from dolmen.domain.values import MODES, SERVED, Mode, Toolset
from dolmen.settings import folders, kenfold
from dolmen.settings.parsing import parse, without_password

PREFIX = "DOLMEN_"
FILE_NAME = "config.toml"

Type = Literal["text", "path", "integer", "number", "switch", "list"]
Origin = Literal["flag", "environment", "file", "default"]
Auth = Literal["auto", "keys", "none"]
EmbedderKind = Literal["auto", "local", "http", "none"]
RerankScores = Literal["auto", "probability", "logit"]
Policy = Literal["propose", "auto"]
Level = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["text", "json"]


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table."""

    name: str
    type: Type
    default: object
    help: str
    group: str
    secret: bool = False
    """Never printed, not even in part."""
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    shown_default: str = ""
    """How the docs name a default that depends on the machine."""

    @property
    def variable(self) -> str:
        """The environment variable."""
        return PREFIX + self.name.upper()


def _row(type: Type, default: object, group: str, help: str, **more: Any) -> Any:
    facts = {"type": type, "group": group, "help": help, **more}
    return field(default=default, metadata=facts)


@dataclass(frozen=True, slots=True)
class Settings:
    """The values in effect. Each field is a row of the table."""

    database: str = _row(
        "text", "", "Store", "Where memory is kept: `sqlite:///path/to/file.db` or `postgresql://user@host/name`.",
        shown_default="sqlite:///<user data directory>/dolmen.db",
    )  # fmt: skip
    config: str = _row(
        "path", "", "Store", "The configuration file (TOML). Not read from the file itself.",
        shown_default="<user configuration directory>/config.toml",
    )  # fmt: skip
    auto_migrate: bool = _row(
        "switch", True, "Store",
        "Bring a store up to date when it is opened. Off: what is older than this program is refused until "
        "`dolmen migrate` was run.",
    )  # fmt: skip

    host: str = _row("text", "127.0.0.1", "Server", "Address that `dolmen serve` listens on.")
    port: int = _row(
        "integer", 7077, "Server", "Port that `dolmen serve` listens on; 0 takes a free one.", least=0, most=65535
    )
    public_url: str = _row(
        "text", "", "Server", "The URL under which clients reach the server, when a proxy stands before it."
    )
    trusted_proxies: tuple[str, ...] = _row(
        "list", (), "Server",
        "Addresses and networks of proxies whose `X-Forwarded-For` is believed: `127.0.0.1`, `10.0.0.0/8`.",
    )  # fmt: skip
    oauth: bool = _row(
        "switch", True, "Server", "Where a public URL is set, people and hosted clients sign in there (OAuth 2.1)."
    )
    oauth_dcr: bool = _row(
        "switch", True, "Server", "Clients may register themselves; those with a client id document need not."
    )
    auth: Auth = _row(
        "text", "auto", "Server",
        "Who may connect over HTTP. `auto`: on a loopback address without a public URL, programs on this machine "
        "without a key, and any key besides; else only with a key. `keys`: only with a key, everywhere. `none`: as "
        "`auto`, also with a public URL. What a proxy hands on always needs a key.",
        choices=("auto", "keys", "none"),
    )  # fmt: skip
    allowed_hosts: tuple[str, ...] = _row(
        "list",
        (),
        "Server",
        "More Host headers to accept, besides the address and the public URL: `name`, `name:port`.",
    )
    allowed_origins: tuple[str, ...] = _row(
        "list", (), "Server", "More web origins to accept, such as `https://inspector.example`."
    )
    rate_limit: int | None = _row(
        "integer", None, "Server", "Requests per minute of a connection that has no limit of its own; 0 for no limit.",
        least=0, shown_default="600; 60 at kmem's tools",
    )  # fmt: skip
    hourly_limit: int | None = _row(
        "integer", None, "Server", "The same per hour.", least=0, shown_default="no limit; 1,000 at kmem's tools"
    )
    concurrency: int | None = _row(
        "integer", None, "Server", "The same at one time.",
        least=0, shown_default="32; at kmem's tools also 4 calls of recall, remember and edit",
    )  # fmt: skip
    read_only: bool = _row("switch", False, "Server", "Nobody may write over HTTP, whatever their key says.")
    body_limit: int = _row("integer", 4 * 1024 * 1024, "Server", "Largest request body, in bytes.", least=1024)

    toolset: Toolset = _row(
        "text", "core", "Agents", "The tools that a connection without a choice of its own sees.", choices=SERVED
    )
    agent: str = _row(
        "text", "", "Agents", "Name under which `dolmen mcp` writes.", shown_default="what the client calls itself"
    )
    project: str = _row(
        "text", "", "Agents", "Default project of `dolmen mcp` and the command line; `user` for none.",
        shown_default="the git repository of the working directory",
    )  # fmt: skip
    vault: str = _row(
        "text", "", "Agents", "Vault of this machine's user, by its name: of the command line, `dolmen mcp` and "
        "programs that need no key.",
        shown_default="the first one",
    )  # fmt: skip
    mode: Mode = _row(
        "text", "write", "Agents",
        "What `dolmen mcp` may do. In `suggest`, writes wait until a person applies them.",
        choices=MODES,
    )  # fmt: skip
    url: str = _row(
        "text", "", "Agents",
        "The MCP address of the server that session hooks talk to, when it is not the one entered for their client.",
        shown_default="http://<host>:<port>/mcp",
    )  # fmt: skip
    state_dir: str = _row(
        "path", "", "Agents", "Folder of the session hooks' files: session logs, and summaries that wait for a server.",
        shown_default="<user data directory>/hook",
    )  # fmt: skip
    key: str = _row(
        "text", "", "Agents", "The key that session hooks, `dolmen refs sync` and `dolmen mirror` show to it.",
        secret=True,
    )  # fmt: skip
    zone: str = _row(
        "text", "", "Agents",
        'Where "yesterday" is, when a caller does not say, and the zone of the times that a terminal shows: '
        "`Europe/Berlin`, `+09:00`.",
        shown_default="UTC; on the command line the system's",
    )  # fmt: skip

    embedder: EmbedderKind = _row(
        "text", "auto", "Embeddings",
        "What finds memories by meaning. `auto`: the endpoint when one is set, else the model that is installed.",
        choices=("auto", "local", "http", "none"),
    )  # fmt: skip
    embeddings_url: str = _row(
        "text", "", "Embeddings", "An OpenAI-compatible endpoint, such as `http://127.0.0.1:11434/v1`."
    )
    embeddings_key: str = _row("text", "", "Embeddings", "API key of the endpoint.", secret=True)
    embeddings_model: str = _row("text", "", "Embeddings", "Model name at the endpoint.")
    embeddings_name: str = _row(
        "text", "", "Embeddings",
        "Name under which the endpoint's vectors are kept: a new one makes all of them anew, the same one lets the "
        "model move to where it is called otherwise.",
        shown_default="the model name",
    )  # fmt: skip
    embeddings_dimensions: int | None = _row(
        "integer", None, "Embeddings", "Dimensions to ask the endpoint for.", least=1, shown_default="the model's own"
    )
    embeddings_query_prefix: str = _row("text", "", "Embeddings", "Text that the model wants before a question.")
    embeddings_document_prefix: str = _row("text", "", "Embeddings", "Text that the model wants before a stored text.")
    embedder_threads: int = _row("integer", 1, "Embeddings", "Processor threads of the local model.", least=1)
    inline_embeddings: int = _row(
        "integer", 8, "Embeddings", "Texts of one write that are embedded at once; the rest follow in the background.",
        least=0,
    )  # fmt: skip

    search_max_distance: float | None = _row(
        "number", None, "Embeddings",
        "Cosine distance from which a passage has nothing to do with a question, such as `0.55`; for an endpoint's "
        "model that lets too much or too little through.",
        least=0.01, most=2, shown_default="what is known of the model",
    )  # fmt: skip

    rerank_url: str = _row(
        "text", "", "Reranking",
        "A server with `/rerank` (Jina, Cohere, Voyage, vLLM, llama.cpp, Text Embeddings Inference), such as "
        "`http://127.0.0.1:8012/v1`. A cross-encoder there judges the best candidates of every question.",
    )  # fmt: skip
    rerank_key: str = _row("text", "", "Reranking", "API key of the server.", secret=True)
    rerank_model: str = _row("text", "", "Reranking", "Model name at the server.")
    rerank_scores: RerankScores = _row(
        "text", "auto", "Reranking",
        "What the server's scores are. `auto`: logits as soon as one of them lies outside 0 to 1.",
        choices=("auto", "probability", "logit"),
    )  # fmt: skip
    rerank_top: int = _row("integer", 15, "Reranking", "How many of the best candidates are judged.", least=1, most=100)

    chat_url: str = _row("text", "", "Chat model", "An OpenAI-compatible endpoint that proposes memories.")
    chat_key: str = _row("text", "", "Chat model", "API key of the endpoint.", secret=True)
    chat_model: str = _row("text", "", "Chat model", "Model name at the endpoint.")
    chat_reasoning: str = _row(
        "text", "", "Chat model", "How long the model may think: sent as `reasoning_effort`, such as `none` or `low`.",
        shown_default="the field is not sent",
    )  # fmt: skip
    chat_timeout: float = _row("number", 60.0, "Chat model", "Seconds that an answer may take.", least=0.1, most=600)
    chat_classify_timeout: float = _row(
        "number", 15.0, "Chat model", "The same while a writer waits to hear the kind of a memory.", least=0.1, most=60
    )
    classify: bool = _row(
        "switch", True, "Chat model", "Ask the model for the type that Kenfold's `remember` was not given."
    )
    extract: bool = _row("switch", True, "Chat model", "Look for memories in session summaries, in the background.")
    extract_policy: Policy = _row(
        "text", "propose", "Chat model",
        "What becomes of memories that the model finds in sessions. `propose`: they wait for you. `auto`: what was "
        "said directly and resembles nothing is served at once; preferences wait all the same.",
        choices=("propose", "auto"),
    )  # fmt: skip
    extract_after: int = _row("integer", 180, "Chat model", "Seconds until a session summary is read.", least=0)
    consolidate: bool = _row(
        "switch", True, "Chat model",
        "Look for duplicates and contradictions in the background; only with a chat model.",
    )  # fmt: skip

    keep_events_days: int = _row(
        "integer", 90, "Records", "Days that recall events without feedback are kept.", least=1
    )
    log: Level = _row(
        "text", "info", "Records", "How much is logged to standard error.",
        choices=("debug", "info", "warning", "error"),
    )  # fmt: skip
    log_format: LogFormat = _row("text", "text", "Records", "Form of the log lines.", choices=("text", "json"))
    log_file: str = _row(
        "path", "", "Records", "A file that the log is also written to; helps where a client hides standard error."
    )


def _setting(each: Field[Any]) -> Setting:
    assert each.default is not MISSING
    return Setting(name=each.name, default=each.default, **each.metadata)


TABLE: tuple[Setting, ...] = tuple(_setting(each) for each in fields(Settings))
_BY_NAME: Mapping[str, Setting] = {each.name: each for each in TABLE}


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings, where each came from, and what was odd about it."""

    settings: Settings
    origins: Mapping[str, Origin]
    file: Path | None
    """The configuration file that was read."""
    warnings: tuple[str, ...] = ()


def load(flags: Mapping[str, object] | None = None, environment: Mapping[str, str] | None = None) -> Loaded:
    """The settings in effect. A flag that is None was not given; the environment defaults to the process's own.

    Raises:
        DolmenError: `configuration` for a value that its setting does not take, or a file that cannot be read.
    """
    environment = os.environ if environment is None else environment
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    variables = {name[len(PREFIX) :].lower(): value for name, value in environment.items() if name.startswith(PREFIX)}
    file = _file(given.get("config") or variables.get("config"))
    sources: tuple[tuple[Origin, str, Mapping[str, object]], ...] = (
        ("flag", "", given),
        ("environment", "", variables),
        ("file", str(file), _read(file) if file else {}),
    )
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    warnings: list[str] = []
    for origin, place, found in sources:
        for name, raw in found.items():
            row = _BY_NAME.get(name)
            if row is None or (row.name == "config" and origin == "file"):
                warnings.append(_unknown(origin, name, place))
            elif name not in values and raw != "":
                values[name] = parse(row, raw, _where(origin, row, place))
                origins[name] = origin
        if origin == "environment":
            for variable, name, said in kenfold.values(environment, tuple(values)):
                if name in _BY_NAME and name not in values:
                    values[name] = parse(_BY_NAME[name], said, variable)
                    origins[name] = origin
    values.setdefault("config", str(file) if file else "")
    if "database" not in values:
        values["database"] = default_database()
    return Loaded(
        Settings(**values), {row.name: origins.get(row.name, "default") for row in TABLE}, file, tuple(warnings)
    )


def default_database() -> str:
    """The URL of the store in the user's data directory."""
    return f"sqlite:///{(folders.data() / 'dolmen.db').as_posix()}"


def default_file() -> Path:
    """Where the configuration file is looked for when nothing names another."""
    return folders.configuration() / FILE_NAME


def shown(row: Setting, value: object) -> str:
    """The value as text for people: secrets are not shown, and neither are passwords in URLs."""
    if row.secret:
        return "(set, not shown)" if value else "(not set)"
    if value is None or value == "" or value == ():
        return "(not set)"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return without_password(str(value))


def _file(named: object) -> Path | None:
    if named:
        path = Path(str(named)).expanduser()
        if not path.is_file():
            raise DolmenError(
                "configuration",
                f"There is no configuration file {path}.",
                "Create it, or unset DOLMEN_CONFIG and leave --config out.",
            )
        return path
    path = default_file()
    return path if path.is_file() else None


def _read(file: Path) -> dict[str, object]:
    import tomllib

    try:
        text = file.read_bytes().decode("utf-8-sig")
        return _flat(tomllib.loads(text))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DolmenError(
            "configuration", f"The configuration file {file} cannot be read: {error}.", "Correct it: TOML, in UTF-8."
        ) from error


def _flat(table: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in table.items():
        name = (prefix + key).replace("-", "_").lower()
        if isinstance(value, dict):
            flat.update(_flat(value, name + "_"))
        else:
            flat[name] = value
    return flat


def _where(origin: Origin, row: Setting, place: str) -> str:
    match origin:
        case "flag":
            return "--" + row.name.replace("_", "-")
        case "environment":
            return row.variable
        case _:
            return f"`{row.name}` in {place}"


def _unknown(origin: Origin, name: str, place: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, _BY_NAME, 1, 0.6)
    if origin == "environment":
        said = f"The environment variable {PREFIX}{name.upper()} is no setting of Dolmen"
        return f"{said}; did you mean {_BY_NAME[near[0]].variable}?" if near else f"{said}."
    said = f"`{name}` in {place} is no setting of Dolmen" if origin == "file" else f"{name!r} is no setting"
    return f"{said}; did you mean `{near[0]}`?" if near else f"{said}."
