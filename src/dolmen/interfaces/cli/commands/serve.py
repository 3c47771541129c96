"""`dolmen serve`: the HTTP server, and what to tell the clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.cli.here import Here, command

if TYPE_CHECKING:
    from dolmen.app import App
    from dolmen.domain.access import Connection
    from dolmen.interfaces.http.options import HttpOptions
    from dolmen.settings import Settings


@click.command()
@click.option("--host", metavar="ADDRESS", help="Address to listen on. [default: 127.0.0.1]")
@click.option("--port", metavar="NUMBER", help="Port to listen on; 0 takes a free one. [default: 7077]")
@click.option("--auth", type=click.Choice(("auto", "keys", "none")), help="Who may connect. [default: auto]")
@click.option("--read-only", is_flag=True, default=None, help="Nobody may write.")
@click.option("--log", type=click.Choice(("debug", "info", "warning", "error")), help="How much to log.")
@command
def serve(here: Here, host: str | None, port: str | None, auth: Any, read_only: bool | None, log: str | None) -> None:
    """Serve agents over HTTP, and say how to connect them.

    Ctrl-C ends it; requests in flight are answered first.
    """
    from dolmen.interfaces.cli import logs
    from dolmen.interfaces.http.asgi import create_app
    from dolmen.interfaces.http.server import serve as run

    here.flag(host=host, port=port, auth=auth, read_only=read_only, log=log)
    settings = here.settings
    logs.configure(settings)
    require_own(settings.host)
    with here.app(models=True, create=True) as app:
        require_safe(settings, _valid_keys(app))
        options = http_options(settings)
        require_free(settings.host, settings.port)

        def ready(port: int) -> None:
            _announce(here, app, options, port)
            app.upkeep.start(after=1.0)

        _end_in_order()
        try:
            run(create_app(app.runtime, options), settings.host, settings.port, ready=ready)
        except KeyboardInterrupt:
            pass  # how a server is ended; the store is closed now


def _end_in_order() -> None:
    """Makes a request to terminate an exception, as Ctrl-C is one: the server raises the signal again when its last
    request is answered, and by default that would end the process before the store is closed."""
    import signal

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)


def http_options(settings: Settings) -> HttpOptions:
    """What the HTTP server needs of the settings."""
    from dolmen.interfaces.http.options import HttpOptions

    return HttpOptions(
        host=settings.host,
        port=settings.port,
        auth=settings.auth,
        public_url=settings.public_url,
        trusted_proxies=settings.trusted_proxies,
        sign_in=settings.oauth,
        registration=settings.oauth_dcr,
        allowed_hosts=settings.allowed_hosts,
        allowed_origins=settings.allowed_origins,
        rate_limit=settings.rate_limit,
        hourly_limit=settings.hourly_limit,
        concurrency=settings.concurrency,
        body_limit=settings.body_limit,
        toolset=settings.toolset,
        mode=settings.mode,
        read_only=settings.read_only,
    )


def _valid_keys(app: App) -> list[Connection]:
    """The keys that open the door now."""
    from dolmen.services.accounts import ensure_vault

    vault = ensure_vault(app.runtime)
    with app.runtime.store.read() as tx:
        now = tx.now
        found = tx.accounts.connections(vault)
    return [each for each in found if each.revoked_at is None and (each.expires_at is None or each.expires_at > now)]


def require_safe(settings: Settings, keys: list[Connection]) -> None:
    """Refuses to listen beyond this machine while anybody, or nobody, could come in (B199).

    Raises:
        DolmenError: `configuration`.
    """
    from dolmen.interfaces.http.hosts import is_loopback, require_safe_bind

    require_safe_bind(settings.host, settings.auth)
    if not is_loopback(settings.host) and not keys and not http_options(settings).base:
        raise DolmenError(
            "configuration",
            f"{settings.host} is reached from other machines, and there is no key yet.",
            "Make one first (`dolmen key create AGENT`), set DOLMEN_PUBLIC_URL so that people sign in, or listen on "
            "127.0.0.1.",
        )


def require_own(host: str) -> None:
    """Refuses a name that nobody knows, or an address of another machine.

    Raises:
        DolmenError: `configuration`.
    """
    import socket

    bare = host.strip("[]")
    try:
        family, kind, number, _, address = socket.getaddrinfo(bare, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, number) as probe:
            probe.bind(address)
    except (OSError, UnicodeError) as error:
        unknown = isinstance(error, socket.gaierror | UnicodeError)
        what = f"The name {bare} is unknown here" if unknown else f"{bare} is no address of this machine"
        raise DolmenError(
            "configuration",
            f"{what}, so nothing can listen there.",
            "Listen on 127.0.0.1, on 0.0.0.0 for every address of this machine, or on one of its addresses.",
        ) from error


def own_addresses() -> list[str]:
    """The IPv4 addresses of this machine that others may reach it by; nothing is sent to find them."""
    import socket

    found: dict[str, None] = {}
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("192.0.2.1", 9))  # an address of no machine (RFC 5737): only the way to it is looked up
            found[probe.getsockname()[0]] = None
    except OSError:
        pass
    try:
        for each in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET, socket.SOCK_STREAM):
            found[str(each[4][0])] = None
    except OSError:
        pass
    return [address for address in found if not address.startswith("127.")]


def require_free(host: str, port: int) -> None:
    """Refuses a port that somebody else listens on, before anything else is started.

    Raises:
        DolmenError: `configuration`.
    """
    import socket

    bare = host.strip("[]")
    family = socket.AF_INET6 if ":" in bare else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            if hasattr(socket, "SO_REUSEADDR") and not hasattr(socket, "SO_EXCLUSIVEADDRUSE"):
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((bare, port))
    except OSError as error:
        raise DolmenError(
            "configuration",
            f"Nothing can listen on {host}:{port}: {error.strerror or error}.",
            f"Is Dolmen running already (http://{host}:{port}/health)? Else choose another: --port {port + 1}.",
        ) from error


def _announce(here: Here, app: App, options: HttpOptions, port: int) -> None:
    from dolmen.interfaces.http.hosts import keyless

    out = here.out
    url = endpoint(options.public_url, options.host, port)
    with_key = bool(options.public_url) or not keyless(options)
    info = app.runtime.store.info()
    model = app.runtime.embedder.model if app.runtime.embedder else "none"
    why = app.model.why if app.model else ""
    if out.as_json:
        out.result({"url": url, "port": port, "database": info.location, "model": model, "keys": with_key}, ())
        return
    lines = [
        "",
        out.bold(f"Dolmen serves {out.style(url, fg='green')}"),
        f"  memory  {info.location} ({info.version})",
        f"  model   {model}: {why}",
        f"  access  {_access(with_key, options.base)}",
        *(["          (without the key in the lines below, a client asks you to sign in)"] if options.base else []),
        *(f"  also at {each}" for each in _elsewhere(options, port)),
        *_first_entry(app, options),
        *(f"  {out.style('!', fg='yellow')} {warning}" for warning in info.warnings),
        "",
        *connect_lines(here, url, with_key=with_key),
        out.dim("Ctrl-C ends it. `dolmen doctor` finds what is wrong, `dolmen demo` shows what it is for."),
    ]
    out.result({}, lines)


def _first_entry(app: App, options: HttpOptions) -> list[str]:
    """How the owner chooses a password, as long as there is none: a fresh link at each start."""
    if not options.base:
        return []
    from dolmen.services import people
    from dolmen.services.accounts import local_actor

    owner = people.needs_setup(app.runtime)
    if owner is None:
        return []
    secret = people.entry_link(app.runtime, local_actor(app.runtime, agent="cli", human=True), owner.id)
    return [f"  sign-in {options.base}/enter/{secret} lets the owner choose a password, once, within a day"]


def _elsewhere(options: HttpOptions, port: int) -> list[str]:
    """Under which addresses other machines reach a server that listens on all."""
    if options.public_url or options.host.strip("[]") not in ("0.0.0.0", "::"):
        return []
    return [f"http://{address}:{port}/mcp" for address in own_addresses()]


def endpoint(public_url: str, host: str, port: int) -> str:
    """The URL that clients are given."""
    return (public_url.rstrip("/") or f"http://{_reached(host)}:{port}") + "/mcp"


def _access(with_key: bool, base: str) -> str:
    if base:
        return "by signing in from the client, or with a key: dolmen key create AGENT"
    if with_key:
        return "with a key: dolmen key create AGENT"
    return "this machine only, no key needed (DOLMEN_AUTH=keys asks for one)"


def _reached(host: str) -> str:
    """The address as it stands in a URL on this machine."""
    bare = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host.strip("[]"), host.strip("[]"))
    return f"[{bare}]" if ":" in bare else bare


def connect_lines(here: Here, url: str, *, with_key: bool, key: str = "") -> list[str]:
    """How each client is connected, ready to copy."""
    from dolmen.interfaces.clients import KEY_SHOWN, recipes

    lines: list[str] = []
    for recipe in recipes(url, with_key=with_key, key=key or KEY_SHOWN):
        where = here.out.dim(f"  in {recipe.file}") if recipe.file else ""
        lines += [here.out.bold(recipe.client) + where, *(f"  {line}" for line in recipe.text.splitlines()), ""]
    return lines
