"""Which project a session works in, which session it is, and under which name an agent writes.

A project is named the same on every machine and in every checkout: the remote URL of its repository as lowercase
`host/path`, a name of its own, or, for a repository without a remote, an identity made from its history.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Literal

from dolmen.domain.errors import DolmenError

MAX_PROJECT_CHARACTERS = 300
MAX_AGENT_CHARACTERS = 64
MAX_SESSION_CHARACTERS = 128
SCOPE_USER = "user"
_PROJECT_PREFIX = "project:"

_DRIVE = re.compile(r"[A-Za-z]:[\\/]|[A-Za-z]:\Z")
_LITERAL = re.compile(r"\[[0-9a-f:.]+\]")
"""An address of version 6 as the host; its colons separate nothing."""
_HOST_AND_PATH = re.compile(r"[^/?#\s]*[.:][^/?#\s]*/")
# Bidirectional controls and line separators would make two different names look the same.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_KEPT = re.compile(r"local-[0-9a-f]{12}/[^/\s]+")
_FIX = "Pass the repository's git remote URL (git remote get-url origin), or a project name if it has no remote."


def normalize_project(value: str) -> str:
    """Identity of a project from a git remote URL or a free-form name (C-26, C-27, C-29).

    `https://user:token@GitHub.com:443/Org/Repo.git?x#y`, `git@github.com:org/repo` and `ssh://git@github.com/org/repo/`
    are all `github.com/org/repo`; a name is trimmed, composed (NFC) and lowercased. Normalising twice changes nothing.

    Raises:
        DolmenError: `invalid-project` for a local path, control characters, nothing left, or over 300 characters.
    """
    project = unicodedata.normalize("NFC", value.strip())
    if _UNSAFE.search(project):
        raise DolmenError("invalid-project", "The project contains control characters.", _FIX)
    # Every pass shortens the text or leaves it; odd input such as `x.git.git` needs more than one.
    while True:
        _refuse_local_path(project)
        reduced = _reduce(project)
        if reduced == project:
            break
        project = reduced
    if not project:
        raise DolmenError("invalid-project", "The project is not a git remote URL or a project name.", _FIX)
    if len(project) > MAX_PROJECT_CHARACTERS:
        raise DolmenError("invalid-project", f"The project is longer than {MAX_PROJECT_CHARACTERS} characters.", _FIX)
    return project


def scope_of(project: str | None) -> str:
    """Scope string of a project argument: `user` for none or blank, else `project:<identity>` (C-28, C-30)."""
    if project is None or not project.strip():
        return SCOPE_USER
    return _PROJECT_PREFIX + normalize_project(project)


def project_of(scope: str) -> str | None:
    """The project identity in a scope string, None for `user`.

    Raises:
        DolmenError: `invalid-project` for a string that is no scope.
    """
    if scope == SCOPE_USER:
        return None
    if scope.startswith(_PROJECT_PREFIX) and len(scope) > len(_PROJECT_PREFIX):
        return scope[len(_PROJECT_PREFIX) :]
    raise DolmenError("invalid-project", "That is no scope.", "A scope is `user` or `project:<identity>`.")


def agent_name(raw: str | None) -> str:
    """Name under which an agent writes (C-31): lowercase letters, digits, `.`, `_` and `-`.

    Anything else becomes one hyphen; at most 64 characters; `unknown` when nothing is left.
    """
    folded = unicodedata.normalize("NFKC", raw or "").casefold()
    name = "".join(c if c.isalnum() or c in "._-" else "-" for c in folded)
    name = re.sub("-{2,}", "-", name)[:MAX_AGENT_CHARACTERS].strip("-._")
    return name or "unknown"


def session_id(raw: object) -> str | None:
    """The id that a client gives its conversation (C-32), trimmed; None for what cannot be one.

    At most 128 characters, none of them a control character. What is malformed is as good as not said: a call does not
    fail for a mark that it need not carry.
    """
    if not isinstance(raw, str):
        return None
    id = raw.strip()
    return id if 0 < len(id) <= MAX_SESSION_CHARACTERS and not _UNSAFE.search(id) else None


def _refuse_local_path(project: str) -> None:
    lowered = project.lower()
    parts = re.split(r"[/\\]", project)
    if (
        project.startswith(("/", "~", "\\"))
        or lowered.startswith("file:")
        or _DRIVE.match(project)
        or "." in parts
        or ".." in parts
    ):
        raise DolmenError(
            "invalid-project",
            "The project is a local path, which is another one on every machine.",
            _FIX,
        )


def _reduce(project: str) -> str:
    project = unicodedata.normalize("NFC", project.lower())
    if project.startswith(_PROJECT_PREFIX):
        project = project[len(_PROJECT_PREFIX) :].lstrip()
    _, scheme, rest = project.partition("://")
    if scheme:
        if rest.startswith("/"):
            _refuse_local_path(rest)
        project = re.split(r"[?#]", rest, maxsplit=1)[0]
        project = _without_credentials(project)
    else:
        project = _scp_form(project)
    host, slash, path = project.partition("/")
    if slash:
        host = re.sub(r":[0-9]*\Z", "", host)
        project = re.sub("/{2,}", "/", f"{host}/{path}")
    return project.rstrip("/").removesuffix(".git").rstrip("/").strip()


def _without_credentials(project: str) -> str:
    authority, slash, path = project.partition("/")
    return authority.rpartition("@")[2] + slash + path


def _scp_form(project: str) -> str:
    """`[user[:password]@]host:path` -> `host/path`; a plain name stays."""
    if _HOST_AND_PATH.match(project):
        project = re.split(r"[?#]", project, maxsplit=1)[0]
    first, slash, path = project.partition("/")
    if "@" in first and (slash or ":" in first.rpartition("@")[2]):
        project = first.rpartition("@")[2] + slash + path
    literal = _LITERAL.match(project)
    start = literal.end() if literal else 0
    name, colon, path = project[start:].partition(":")
    host = project[:start] + name
    if colon and host and path and not re.search(r"[/\s]", host):
        port, slash, rest = path.partition("/")
        if slash and port.isdigit():
            return f"{host}/{rest}"
        return f"{host}/{path}"
    return project


@dataclass(frozen=True, slots=True)
class RepositoryFacts:
    """What a client read from the working directory; nothing here is looked up by the domain."""

    remotes: tuple[tuple[str, str], ...] = ()
    """(name, URL) of every remote, in git's order."""
    tracked_remote: str | None = None
    """Name of the remote that the current branch follows."""
    common_dir: str | None = None
    """git's common directory (the same for every worktree); None outside a repository."""
    toplevel: str | None = None
    """Root of the work tree."""
    root_commits: tuple[str, ...] = ()
    """Hashes of the commits without a parent; empty for a new or a shallow repository."""
    kept_identity: str | None = None
    """Identity kept in the common directory by an earlier session."""
    fresh_id: str | None = None
    """A random id made by the client, used and then kept when the history names nothing."""
    override: str | None = None
    """Text of the committed `.dolmen.toml` or `.dolmen` file."""
    confirmed: tuple[str, ...] = ()
    """Projects that the person of this machine lets that file name."""
    superproject: RepositoryFacts | None = None
    """Facts of the repository that holds this one as a submodule."""


Source = Literal["override", "remote", "kept", "history", "minted", "none"]


@dataclass(frozen=True, slots=True)
class ProjectIdentity:
    """The project of a working directory."""

    project: str | None
    """Normalised identity; None outside a repository."""
    source: Source
    """What named it."""
    why: str
    """One sentence for people."""
    parents: tuple[str, ...] = ()
    """Projects around a submodule, nearest first: reads show their memories too, writes go to `project`."""
    keep: bool = False
    """Whether the client should keep `project` in the common directory for later sessions."""
    unconfirmed: str | None = None
    """What the committed file names, and `project` is not: nobody has confirmed it."""


def identify(facts: RepositoryFacts) -> ProjectIdentity:
    """The project of a working directory, from what a client read there.

    1. A committed `.dolmen.toml` or `.dolmen` file with `project = …` wins, also outside a repository (B219), when the
       person of this machine has confirmed the name: a checkout may come from anybody, and the name opens a memory.
    2. A remote URL: the one called origin, else upstream, else the one the branch follows, else the first; remotes
       that are local paths do not count. Worktrees share their repository's remotes, so they are one project (B118).
    3. No remote: `local-<12 hex digits>/<name>`. The digits come from the identity kept in git's common directory,
       else from the root commits, else from a random id; never from a folder's name or spelling (B122, B128).
       The name is for people alone.
    4. A submodule is a project of its own, and names the projects around it (B121).
    5. Outside a repository: no project.
    """
    named = _named(facts)
    if facts.superproject is None:
        return named
    around = identify(facts.superproject)
    parents = tuple(p for p in (around.project, *around.parents) if p is not None and p != named.project)
    return replace(named, parents=parents)


def _named(facts: RepositoryFacts) -> ProjectIdentity:
    declared = override_project(facts.override) if facts.override is not None else None
    if declared is None:
        return _unnamed(facts)
    if declared not in facts.confirmed:
        own = _unnamed(facts)
        if declared != own.project:
            return replace(own, unconfirmed=declared)
    return ProjectIdentity(declared, "override", "The committed .dolmen file names the project.")


def _unnamed(facts: RepositoryFacts) -> ProjectIdentity:
    if facts.common_dir is None:
        return ProjectIdentity(None, "none", "The working directory is in no git repository.")
    for name, url in _by_preference(facts):
        try:
            return ProjectIdentity(normalize_project(url), "remote", f"The remote {name} names the project.")
        except DolmenError:
            continue  # a remote on this machine's disk names nothing that another machine would know
    return _local(facts)


def override_project(text: str) -> str | None:
    """The project that a `.dolmen` or `.dolmen.toml` file names, None if it names none.

    Lines are `key = value`; `#` starts a comment line; the value may stand in quotes, as in TOML it must, and then a
    comment may follow. What stands in a TOML table (`[table]`) is something else.

    Raises:
        DolmenError: `invalid-project` for a value that `normalize_project` refuses.
    """
    for line in text.removeprefix("\ufeff").splitlines():
        if line.lstrip().startswith("["):
            return None
        key, equals, value = line.partition("=")
        if equals and key.strip().lower() == "project":
            value = value.strip()
            if value[:1] in ("'", '"') and (end := value.find(value[0], 1)) > 0:
                value = value[1:end]
            return normalize_project(value) if value.strip() else None
    return None


def _by_preference(facts: RepositoryFacts) -> list[tuple[str, str]]:
    order = ["origin", "upstream", facts.tracked_remote]
    return sorted(facts.remotes, key=lambda remote: order.index(remote[0]) if remote[0] in order else len(order))


def _local(facts: RepositoryFacts) -> ProjectIdentity:
    kept = _usable(facts.kept_identity)
    remote = "Its remote is a folder on this disk, which names nothing elsewhere" if facts.remotes else "No remote"
    if kept is not None:
        return ProjectIdentity(kept, "kept", f"{remote}; the repository keeps the identity it was first given.")
    source: Source
    if facts.root_commits:
        # The smallest, because a merge of unrelated histories adds roots in no order.
        seed, source, why = min(facts.root_commits), "history", f"{remote}; the first commit names the project."
    elif facts.fresh_id:
        seed, source, why = facts.fresh_id, "minted", f"{remote} and no commit to be known by; a new name was made."
    else:
        raise DolmenError(
            "invalid-project",
            "The repository has neither a remote nor a commit to be known by.",
            "Commit once, add a remote, or name the project: `dolmen project use NAME`.",
        )
    digits = hashlib.sha256(seed.strip().lower().encode("utf-8", "replace")).hexdigest()[:12]
    return ProjectIdentity(normalize_project(f"local-{digits}/{_display_name(facts)}"), source, why, keep=True)


def _usable(kept: str | None) -> str | None:
    """None for a damaged file, and for one that came along with an archive and names a project of somebody else."""
    return kept if kept is not None and _KEPT.fullmatch(kept) and not _UNSAFE.search(kept) else None


def _display_name(facts: RepositoryFacts) -> str:
    """Name of the folder that holds the repository, or of the one it was cloned from on the same disk."""
    cloned_from = [url for _, url in _by_preference(facts)][:1]
    for path in (*cloned_from, facts.common_dir or ""):
        steps = [step for step in re.split(r"[/\\]", path) if step not in ("", ".git")]
        name = agent_name(steps[-1].removesuffix(".git")) if steps else "unknown"
        if name != "unknown":
            return name
    return "repository"
