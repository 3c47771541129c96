"""Where this user's data and configuration are. Linux, macOS and Windows each have their own places.

On Linux, where two variables and two defaults say it (https://specifications.freedesktop.org/basedir-spec/), they are
read here: loading the package that knows the others takes a twentieth of the time that a session hook has.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_NAME = "dolmen"
_LINUX = sys.platform == "linux"


def data() -> Path:
    """The folder of the store, of hooks, and of what `install` keeps."""
    if _LINUX:
        return _based("XDG_DATA_HOME", "~/.local/share")
    from platformdirs import user_data_path

    return user_data_path(_NAME, appauthor=False)


def configuration() -> Path:
    """The folder of the configuration file and of connections."""
    if _LINUX:
        return _based("XDG_CONFIG_HOME", "~/.config")
    from platformdirs import user_config_path

    return user_config_path(_NAME, appauthor=False)


def _based(variable: str, default: str) -> Path:
    named = os.environ.get(variable, "")
    return Path(named if os.path.isabs(named) else os.path.expanduser(default)) / _NAME
