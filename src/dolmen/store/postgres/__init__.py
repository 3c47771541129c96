"""The PostgreSQL engine: for a team and many server processes. Imported only when it is the one that is asked for."""

from dolmen.domain.errors import DolmenError

try:
    import psycopg  # noqa: F401  # asked for here, once, so that the modules below may simply import it
    import psycopg_pool  # noqa: F401
except ImportError as error:
    raise DolmenError(
        "configuration",
        "The driver for PostgreSQL is not installed.",
        'Install it beside Dolmen: pip install "psycopg[binary,pool]"',
    ) from error
