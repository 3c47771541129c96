"""git's post-commit hook: added to whatever is there, taken out again, and really called."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from dolmen.client.refs import post_commit
from dolmen.domain.errors import DolmenError
from tests.client.given import Checkout, checkout


@pytest.fixture
def shop(tmp_path: Path) -> Checkout:
    return checkout(tmp_path / "shop", cart_py="x = 1\n")


def hook(place: Checkout) -> Path:
    return post_commit.file(place.place)


def test_the_hook_calls_the_program_after_a_commit_and_no_commit_waits_for_it(shop: Checkout, tmp_path: Path) -> None:
    program = tmp_path / "it's dolmen"
    waiting = tmp_path / "waiting"
    os.mkfifo(waiting)
    program.write_text(f'#!/bin/sh\nread go < "{waiting}"\nprintf "%s " "$@" > "{waiting}"\n')
    program.chmod(0o755)
    assert post_commit.install(hook(shop), [str(program)])
    shop.commit()  # returns, although the program has not begun its work
    waiting.write_text("go\n")
    assert waiting.read_text() == "refs sync --quiet --seconds 60 "


def test_a_program_that_is_gone_harms_no_commit(shop: Checkout, tmp_path: Path) -> None:
    post_commit.install(hook(shop), [str(tmp_path / "nowhere")])
    before = shop.git("rev-parse", "HEAD")
    assert shop.commit() != before


def test_what_the_hook_did_before_it_does_still_and_again_when_the_block_is_gone(shop: Checkout) -> None:
    file = hook(shop)
    before = "#!/usr/bin/env bash\n\necho mine > done\nexit 0\n"
    file.write_text(before)
    file.chmod(0o700)
    assert post_commit.install(file, ["/nowhere/dolmen"])
    assert post_commit.installed(file)
    shop.commit()
    assert (shop.place / "done").read_text() == "mine\n"
    assert stat.S_IMODE(file.stat().st_mode) & 0o700 == 0o700
    assert post_commit.remove(file)
    assert file.read_text() == before


def test_a_second_time_changes_nothing_and_another_program_takes_the_place(shop: Checkout) -> None:
    file = hook(shop)
    assert post_commit.install(file, ["/a/dolmen"])
    assert not post_commit.install(file, ["/a/dolmen"])
    assert post_commit.install(file, ["/b/dolmen"])
    assert file.read_text().count("refs sync") == 1
    assert "/a/dolmen" not in file.read_text()
    assert post_commit.remove(file)
    assert not file.exists()
    assert not post_commit.remove(file)


def test_a_hook_without_a_first_line_is_a_shell_script(shop: Checkout) -> None:
    file = hook(shop)
    file.write_text("echo mine > done\n")
    post_commit.install(file, ["/nowhere/dolmen"])
    assert file.read_text().startswith("#!/bin/sh\n")
    assert file.read_text().endswith("\necho mine > done\n")


def test_a_hook_in_another_language_is_left_alone(shop: Checkout) -> None:
    file = hook(shop)
    file.write_text("#!/usr/bin/env python3\nprint(1)\n")
    with pytest.raises(DolmenError, match="no shell script") as refused:
        post_commit.install(file)
    assert refused.value.code == "conflict"
    assert "dolmen refs sync" in refused.value.fix


def test_worktrees_share_the_hook_and_hooks_of_other_repositories_are_not_touched(
    shop: Checkout, tmp_path: Path
) -> None:
    """B118."""
    shop.git("worktree", "add", "-q", str(tmp_path / "wt"))
    assert post_commit.file(tmp_path / "wt") == hook(shop) == shop.place / ".git" / "hooks" / "post-commit"
    shop.git("config", "core.hooksPath", ".husky")
    assert hook(shop) == shop.place / ".husky" / "post-commit"
    shop.git("config", "core.hooksPath", str(tmp_path / "everywhere"))
    with pytest.raises(DolmenError, match="with those of others"):
        hook(shop)
    with pytest.raises(DolmenError, match="in no git repository"):
        post_commit.file(tmp_path)
