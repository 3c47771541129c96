"""A repository whose own settings name programs: nothing that looks at it runs one of them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from dolmen.client import git
from dolmen.client.refs import post_commit
from dolmen.client.refs.looking import look
from dolmen.client.refs.repository import open_repository
from dolmen.domain.code import Target
from dolmen.domain.errors import DolmenError
from tests.client.given import Checkout, checkout


@dataclass(frozen=True)
class Trap:
    """A way in which settings make git run a program."""

    settings: Mapping[str, str]
    """`RUN` stands for the program."""
    sprung_by: tuple[str, ...]
    """What somebody types who does not know; it runs the program."""
    attributes: str = ""
    """In `.git/info/attributes`."""
    prepare: Callable[[Checkout], None] = field(default=lambda shop: None)


def _touched(shop: Checkout) -> None:
    shop.write(cart_py="def total():\n    return 1\n")


def _written_again(shop: Checkout) -> None:
    os.utime(shop.place / "cart.py", (1, 1))


def _changed(shop: Checkout) -> None:
    shop.commit(cart_py="def total():\n    return 3\n")


def _signed(shop: Checkout) -> None:
    """A commit with a signature of nobody's, that removes a file."""
    tree = shop.git("rev-parse", "HEAD^{tree}")
    head = shop.git("rev-parse", "HEAD")
    who = "Ada <ada@example.org> 1700000000 +0000"
    text = (
        f"tree {tree}\nparent {head}\nauthor {who}\ncommitter {who}\n"
        "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n"
    )
    made = subprocess.run(
        ["git", "-C", str(shop.place), "hash-object", "-t", "commit", "-w", "--stdin"],
        input=text.encode(), check=True, capture_output=True,
    )  # fmt: skip
    shop.git("reset", "-q", "--hard", made.stdout.decode().strip())


def _promised(shop: Checkout) -> None:
    """An object that is missing and that a remote promised."""
    blob = shop.git("rev-parse", "HEAD:cart.py")
    (shop.place / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    (shop.place / "cart.py").unlink()


STATUS = ("status", "--porcelain")
TRAPS = {
    "fsmonitor": Trap({"core.fsmonitor": "RUN"}, STATUS),
    "clean filter": Trap({"filter.x.clean": "RUN"}, STATUS, "*.py filter=x", _touched),
    "filter process": Trap({"filter.x.process": "RUN", "filter.x.required": "true"}, STATUS, "*.py filter=x", _touched),
    "filter with = in its name": Trap({"filter.a=b.clean": "RUN"}, STATUS, "*.py filter=a=b", _touched),
    "hooks": Trap({"core.hooksPath": "HOOKS"}, STATUS, prepare=_written_again),
    "external diff": Trap({"diff.external": "RUN"}, ("diff", "HEAD~"), prepare=_changed),
    "diff driver": Trap({"diff.x.command": "RUN"}, ("diff", "HEAD~"), "*.py diff=x", _changed),
    "textconv": Trap({"diff.x.textconv": "RUN"}, ("diff", "HEAD~"), "*.py diff=x", _changed),
    "textconv of grep": Trap({"diff.x.textconv": "RUN"}, ("grep", "--textconv", "x", "HEAD"), "*.py diff=x"),
    "signature checker": Trap({"gpg.program": "RUN", "log.showSignature": "true"}, ("log", "-1"), prepare=_signed),
    "promised objects over ext": Trap(
        {
            "remote.origin.url": "ext::RUN", "remote.origin.promisor": "true", "extensions.partialClone": "origin",
            "core.repositoryFormatVersion": "1", "protocol.ext.allow": "always",
        },
        ("cat-file", "-p", "HEAD:cart.py"), prepare=_promised,
    ),
    "promised objects over ssh": Trap(
        {
            "remote.origin.url": "git@example.org:a/b.git", "remote.origin.promisor": "true",
            "extensions.partialClone": "origin", "core.repositoryFormatVersion": "1", "core.sshCommand": "RUN",
        },
        ("cat-file", "-p", "HEAD:cart.py"), prepare=_promised,
    ),
    "alias": Trap({"alias.look": "!RUN"}, ("look",)),
    "included settings": Trap({"include.path": "INCLUDED"}, STATUS),
}  # fmt: skip


@dataclass(frozen=True)
class Trapped:
    shop: Checkout
    mark: Path
    """Is there when the program was run."""

    def sprung(self) -> bool:
        there = self.mark.exists()
        self.mark.unlink(missing_ok=True)
        return there


@pytest.fixture(params=TRAPS, ids=str)
def trap(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Trap, Trapped]:
    given = TRAPS[request.param]
    shop = checkout(tmp_path / "shop", cart_py="def total():\n    return 2\n", old_py="def gone():\n    return 2\n")
    (shop.place / "old.py").unlink()
    shop.commit()
    given.prepare(shop)
    mark, program = tmp_path / "mark", tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks" / "post-index-change").symlink_to(program)
    (tmp_path / "included").write_text(f"[core]\n\tfsmonitor = {program}\n")
    words = {"RUN": str(program), "HOOKS": str(tmp_path / "hooks"), "INCLUDED": str(tmp_path / "included")}
    (shop.place / ".git" / "info" / "attributes").write_text(given.attributes + "\n")
    for name, value in given.settings.items():
        for word, meant in words.items():
            value = value.replace(word, meant)
        shop.git("config", name, value)
    return given, Trapped(shop, mark)


def test_no_program_that_a_repositorys_settings_name_is_run(trap: tuple[Trap, Trapped]) -> None:
    given, trapped = trap
    place = trapped.shop.place
    started = trapped.shop.git("rev-parse", "HEAD~")
    if given.sprung_by != STATUS:  # that one would bring the index up to date, and nothing would be left to compare
        subprocess.run(["git", "-C", str(place), *given.sprung_by], capture_output=True, check=False, timeout=20)
        assert trapped.sprung(), "the trap works"

    git.project(place)
    with suppress(DolmenError):  # hooks that are kept elsewhere
        post_commit.file(place)
    repository = open_repository(place, 20.0)
    assert repository is not None
    look(repository, [Target("cart.py", ""), Target("cart.py", "total"), Target("", "total"), Target("new.py", "")])
    look(repository, [Target("old.py", "gone", started, "def1:0123456789abcdef"), Target("old.py", "", started, "b:0")])
    repository.dirty(["cart.py"])
    assert not trapped.sprung()

    if given.sprung_by == STATUS:
        subprocess.run(["git", "-C", str(place), *STATUS], capture_output=True, check=False, timeout=20)
        assert trapped.sprung(), "the trap works"
