# Sourced by scripts/serve and scripts/test: `prepare LEVEL` makes .venv fit for LEVEL (run, postgres or dev).
# Needs nothing but a POSIX shell and Python 3.11 or newer. When nothing has changed it costs a few milliseconds.

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)

oldest="3.11"
newest="3.14"

# Fits: new enough, and for `strict` also able to make a virtual environment with pip in it (Debian splits that off).
python_fits() { # COMMAND [strict]
    "$1" - "$2" 2>/dev/null <<'END'
import sys

version = sys.version_info[:2]
if version < (3, 11):
    sys.exit(1)
if sys.argv[1] == "strict":
    import ensurepip, venv  # noqa

    sys.exit(version > (3, 14))  # a newer Python is taken only when there is no other: its packages may not be built yet
END
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        python_fits "$PYTHON" lenient && echo "$PYTHON" && return
        echo "PYTHON=$PYTHON is not Python $oldest or newer." >&2
        return 1
    fi
    for strictness in strict lenient; do
        for candidate in python3.14 python3.13 python3.12 python3.11 python3 python; do
            python_fits "$candidate" $strictness && echo "$candidate" && return
        done
    done
    {
        echo "Dolmen needs Python $oldest to $newest, and none was found on the PATH."
        echo "  Debian, Ubuntu   apt-get install python3 python3-venv"
        echo "  Fedora           dnf install python3"
        echo "  macOS            brew install python@3.13"
        echo "An installed one elsewhere: PYTHON=/path/to/python3 $0"
    } >&2
    return 1
}

# What .venv was made from: a change of the requirements, of the project file or of the folder makes it anew.
fingerprint() {
    echo "$(cat "$root"/requirements/*.txt "$root/pyproject.toml" | cksum) $root"
}

prepare() { # LEVEL
    stamp="$root/.venv/.dolmen-$1"
    if [ -x "$root/.venv/bin/python" ] && [ -r "$stamp" ] && [ "$(cat "$stamp")" = "$(fingerprint)" ]; then
        return
    fi
    python=$(find_python) || exit 1
    "$python" "$root/scripts/environment.py" "$root" "$1" "$(fingerprint)" || exit 1
}
