"""Looking at what memories refer to, in real repositories: the two rules that keep it honest, and every way to move."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from dolmen.client.refs import open_repository
from dolmen.client.refs.looking import Findings, look
from dolmen.client.refs.repository import Clock, Repository
from dolmen.domain.code import Check, CodeRef, Target, checked
from tests.client.given import Checkout, checkout

TOTAL = "def total(cart):\n    return sum(item.price for item in cart)\n"
REFUND = "def refund(cart):\n    return -total(cart)\n"
FILE, SYMBOL, ANYWHERE = Target("cart.py", ""), Target("cart.py", "total"), Target("", "total")
EVERY = (FILE, SYMBOL, ANYWHERE)


@pytest.fixture
def shop(tmp_path: Path) -> Checkout:
    return checkout(tmp_path / "shop", cart_py=TOTAL + "\n\n" + REFUND)


def seen(place: Checkout, targets: Sequence[Target], seconds: float | None = None) -> Findings:
    repository = open_repository(place.place, seconds)
    assert repository is not None
    return look(repository, targets)


def anchored(place: Checkout, *targets: Target) -> list[Target]:
    """The targets as they are after a report of what is checked out."""
    found = seen(place, targets)
    assert all(check.found for check in found.checks)
    assert len(found.checks) == len(targets)
    head = place.git("rev-parse", "HEAD")
    return [Target(each.path, each.symbol, head, each.hash, head) for each in found.checks]


def states(place: Checkout, targets: Sequence[Target]) -> list[str]:
    """The state that each anchored target is in by a look, with where it is now; `?` for one that was passed over."""
    found = {(each.path, each.symbol): each for each in seen(place, targets).checks}
    return [_state(target, found.get((target.path, target.symbol))) for target in targets]


def _state(target: Target, check: Check | None) -> str:
    if check is None:
        return "?"
    ref = CodeRef("m", "s", target.path, target.symbol, 0, "current", target.anchor_commit, target.anchor_hash)
    after = checked(ref, check, "a" * 40, 0)
    assert after is not None
    return after.state + (f" {check.resolved_path}" if check.resolved_path else "")


# ------------------------------------------------------------------------------------------------------------ anchoring
def test_what_is_committed_is_anchored(shop: Checkout) -> None:
    """C-224."""
    file, symbol, anywhere = anchored(shop, *EVERY)
    assert file.anchor_hash == "blob:" + shop.git("rev-parse", "HEAD:cart.py")
    assert symbol.anchor_hash == anywhere.anchor_hash != ""
    assert states(shop, [file, symbol, anywhere]) == ["current", "current", "current cart.py"]


@pytest.mark.parametrize("staged", [False, True])
def test_what_has_uncommitted_changes_is_not_anchored(shop: Checkout, staged: bool) -> None:
    """C-225: the memory may speak of those."""
    shop.write(cart_py=TOTAL, new_py="def fresh(): pass\n")
    if staged:
        shop.git("add", "-A")
    found = seen(shop, [*EVERY, Target("new.py", ""), Target("new.py", "fresh")])
    assert found.checks == []
    assert found.passed_over == {"uncommitted": 5}
    shop.commit()
    assert len(seen(shop, [*EVERY, Target("new.py", "fresh")]).checks) == 4


def test_uncommitted_changes_do_not_keep_an_anchor_from_being_compared(shop: Checkout) -> None:
    anchors = anchored(shop, *EVERY)
    shop.write(cart_py="nothing = 1\n")
    assert states(shop, anchors) == ["current", "current", "current cart.py"]


def test_what_is_nowhere_is_reported_so_that_it_can_be_looked_for_later(shop: Checkout) -> None:
    """C-226."""
    lost = [Target("lost.py", ""), Target("lost.py", "total"), Target("cart.py", "nobody"), Target("", "nobody")]
    assert seen(shop, lost).checks == [Check(each.path, each.symbol) for each in lost]


def test_a_name_that_is_defined_in_many_places_means_none_of_them(shop: Checkout) -> None:
    shop.commit(**{f"pkg__f{n}_py": "def total(): pass\n" for n in range(6)})
    assert seen(shop, [ANYWHERE]).checks == [Check("", "total")]
    shop.commit(**{f"pkg__g{n}_py": "total = 1\n" for n in range(50)})
    assert seen(shop, [ANYWHERE]).passed_over == {"unclear": 1}


def test_the_end_of_a_path_stands_for_the_only_file_that_has_it(shop: Checkout) -> None:
    shop.commit(deep__down__store_py="def keep(): pass\n")
    targets = [Target("store.py", ""), Target("store.py", "keep"), Target("down/store.py", "keep")]
    assert {each.resolved_path for each in seen(shop, targets).checks} == {"deep/down/store.py"}
    anchors = anchored(shop, *targets)
    shop.commit(other__store_py="")
    assert states(shop, anchors) == ["?", "?", "current deep/down/store.py"]


# ------------------------------------------------------------------------------------------------------------ comparing
def test_a_change_of_a_symbol_is_seen_and_one_beside_it_is_not(shop: Checkout) -> None:
    """B159."""
    anchors = anchored(shop, *EVERY)
    shop.commit(cart_py=TOTAL.replace("    return", "\n    return  ") + REFUND.replace("-", "- 2 *"))
    assert states(shop, anchors) == ["changed", "current", "current cart.py"]
    shop.commit(cart_py=TOTAL.replace("price", "cost") + REFUND)
    assert states(shop, anchors) == ["changed", "changed", "changed cart.py"]
    shop.commit(cart_py=TOTAL)
    assert states(shop, anchors) == ["changed", "current", "current cart.py"]


def test_what_was_removed_is_missing(shop: Checkout) -> None:
    """B160."""
    anchors = anchored(shop, *EVERY)
    shop.commit(cart_py=REFUND)
    assert states(shop, anchors) == ["changed", "missing", "missing"]
    shop.git("rm", "-q", "cart.py")
    shop.commit()
    assert states(shop, anchors) == ["missing", "missing", "missing"]


def test_a_renamed_symbol_is_missing(shop: Checkout) -> None:
    anchors = anchored(shop, *EVERY)
    shop.commit(cart_py=TOTAL.replace("total", "sum_up") + REFUND)
    assert states(shop, anchors)[1:] == ["missing", "missing"]


def test_a_renamed_file_is_followed_step_by_step(shop: Checkout) -> None:
    """B160: moved is not gone."""
    anchors = anchored(shop, *EVERY)
    for step in ("basket.py", "lib", "lib/shopping basket.py"):
        if step == "lib":
            (shop.place / "lib").mkdir()
            continue
        shop.git("mv", shop.git("ls-files"), step)
        shop.commit()
    now = "lib/shopping basket.py"
    assert states(shop, anchors) == [f"current {now}"] * 3
    shop.commit(**{"lib__shopping basket_py": TOTAL.replace("price", "cost") + "\n\n" + REFUND})
    assert states(shop, anchors) == [f"changed {now}"] * 3


def test_files_with_names_in_other_scripts_are_anchored_compared_and_followed(shop: Checkout) -> None:
    """B160: git tells their names in octal where it is not asked otherwise."""
    targets = [Target("결제/처리.py", ""), Target("결제/처리.py", "charge"), Target("처리.py", "charge")]
    shop.write(결제__처리_py="def charge(): return 1\n")
    assert seen(shop, targets[:2]).passed_over == {"uncommitted": 2}
    shop.commit()
    anchors = anchored(shop, *targets)
    (shop.place / "주문").mkdir()
    shop.git("mv", "결제/처리.py", "주문/접수.py")
    shop.commit()
    assert states(shop, anchors[:2]) == ["current 주문/접수.py", "current 주문/접수.py"]
    shop.commit(주문__접수_py="def charge(): return 2\n")
    assert states(shop, anchors)[1] == "changed 주문/접수.py"


def test_a_symbol_that_moved_to_another_file_is_followed(shop: Checkout) -> None:
    anchors = anchored(shop, *EVERY)
    shop.commit(cart_py=REFUND, lib__sums_py="import os\n\n" + TOTAL)
    assert states(shop, anchors)[1:] == ["current lib/sums.py", "current lib/sums.py"]
    shop.commit(lib__sums_py=TOTAL.replace("price", "cost"))
    assert states(shop, anchors)[1:] == ["changed lib/sums.py", "changed lib/sums.py"]


def test_another_definition_of_the_name_elsewhere_changes_nothing(shop: Checkout) -> None:
    anchors = anchored(shop, *EVERY)
    shop.commit(tests__helper_py="def total(): return 1\n")
    assert states(shop, anchors) == ["current", "current", "current cart.py"]


# ------------------------------------------------------------------------------------------------------ other checkouts
def test_an_older_and_a_diverged_checkout_say_nothing(shop: Checkout) -> None:
    """C-225."""
    old = shop.git("rev-parse", "HEAD")
    shop.commit(cart_py=TOTAL.replace("price", "cost"))
    anchors = anchored(shop, FILE, SYMBOL)
    shop.git("checkout", "-q", old)
    assert seen(shop, anchors).passed_over == {"diverged": 2}
    shop.git("checkout", "-q", "-b", "other")
    shop.commit(cart_py=REFUND)
    assert states(shop, anchors) == ["?", "?"]
    shop.git("checkout", "-q", "main")
    assert states(shop, anchors) == ["current", "current"]


def test_who_is_behind_the_last_check_does_not_contradict_it(shop: Checkout) -> None:
    [anchor] = anchored(shop, SYMBOL)
    start = shop.git("rev-parse", "HEAD")
    newer = shop.commit(cart_py=TOTAL.replace("price", "cost"))
    seen_newer = Target(anchor.path, anchor.symbol, anchor.anchor_commit, anchor.anchor_hash, newer)
    assert states(shop, [seen_newer]) == ["changed"]
    shop.git("checkout", "-q", start)
    assert seen(shop, [seen_newer]).passed_over == {"newer": 1}
    assert states(shop, [anchor]) == ["current"]


def test_what_was_seen_at_a_commit_that_was_dropped_since_is_looked_at_again(shop: Checkout, tmp_path: Path) -> None:
    """C-226: nobody is at that commit any more, so nobody else would ever say that the code is as it was."""
    [anchor] = anchored(shop, SYMBOL)
    newer = shop.commit(cart_py=TOTAL.replace("price", "cost"))
    seen_newer = Target(anchor.path, anchor.symbol, anchor.anchor_commit, anchor.anchor_hash, newer)
    shop.git("worktree", "add", "-q", "--detach", str(tmp_path / "beside"), newer)
    shop.git("reset", "-q", "--hard", "HEAD~1")
    assert seen(shop, [seen_newer]).passed_over == {"newer": 1}, "another worktree is at it"
    shop.git("worktree", "remove", str(tmp_path / "beside"))
    assert states(shop, [seen_newer]) == ["current"]


def test_a_commit_that_is_not_here_says_nothing(shop: Checkout) -> None:
    unknown = [Target("cart.py", "", "f" * 40, "blob:1"), Target("cart.py", "total", "abcdef0", "def1:1")]
    assert seen(shop, unknown).passed_over == {"diverged": 2}


def test_a_shallow_clone_compares_what_its_history_contains(shop: Checkout, tmp_path: Path) -> None:
    old = anchored(shop, *EVERY)
    shop.commit(cart_py=TOTAL)
    new = anchored(shop, *EVERY)
    shop.git("clone", "-q", "--depth", "1", f"file://{shop.place}", str(tmp_path / "shallow"))
    shallow = Checkout(tmp_path / "shallow")
    assert states(shallow, old) == ["?", "?", "?"]
    assert states(shallow, new) == ["current", "current", "current cart.py"]
    assert anchored(shallow, *EVERY) == new


def test_a_clone_without_the_contents_of_its_files_fetches_none_and_says_of_none_that_it_is_gone(
    shop: Checkout, tmp_path: Path
) -> None:
    anchors = anchored(shop, *EVERY)
    shop.git("config", "uploadpack.allowFilter", "true")
    where = (f"file://{shop.place}", str(tmp_path / "partial"))
    shop.git("clone", "-q", "--no-checkout", "--filter=blob:none", *where)
    partial = Checkout(tmp_path / "partial")
    assert states(partial, anchors) == ["?", "?", "?"]
    assert seen(partial, EVERY).checks == []
    partial.git("checkout", "-q", "main")
    assert states(partial, anchors) == ["current", "current", "current cart.py"]


def test_every_worktree_looks_at_its_own_commit(shop: Checkout, tmp_path: Path) -> None:
    """B118."""
    anchors = anchored(shop, *EVERY)
    shop.git("worktree", "add", "-q", str(tmp_path / "wt"))
    other = Checkout(tmp_path / "wt")
    other.commit(cart_py=REFUND)
    assert states(other, anchors)[0] == "changed"
    assert states(shop, anchors)[0] == "current"


def test_what_lies_in_a_submodule_is_left_to_that_repository(shop: Checkout, tmp_path: Path) -> None:
    """B121."""
    library = checkout(tmp_path / "library", util_py="def helper(): pass\n")
    shop.git("submodule", "--quiet", "add", f"file://{library.place}", "vendor/library")
    shop.commit()
    targets = [Target("vendor/library/util.py", ""), Target("vendor/library/util.py", "helper")]
    assert seen(shop, targets).passed_over == {"diverged": 2}
    inside = open_repository(shop.place / "vendor" / "library")
    assert inside is not None
    assert [each.found for each in look(inside, [Target("util.py", "helper")]).checks] == [True]


def test_links_inside_the_repository_are_followed_and_others_are_no_files(shop: Checkout) -> None:
    (shop.place / "link.py").symlink_to("cart.py")
    (shop.place / "out.py").symlink_to("/nowhere/out.py")
    (shop.place / "dangling.py").symlink_to("lost.py")
    shop.commit()
    found = seen(shop, [Target(name, "total") for name in ("link.py", "out.py", "dangling.py", "cart.py")]).checks
    assert {each.path: each.found for each in found if each.found} == {"link.py": True, "cart.py": True}


def test_large_binary_and_foreign_files_are_followed_as_files_only(shop: Checkout) -> None:
    latin = b"# caf\xe9\n" + TOTAL.encode()
    shop.commit(large_py=TOTAL + "#" * (1 << 20), binary_py=b"\0\1\2", latin_py=latin, **{"q.sql": "x"})
    names = ("large.py", "binary.py", "latin.py", "q.sql")
    assert all(each.found for each in seen(shop, [Target(name, "") for name in names]).checks)
    found = seen(shop, [Target(name, "total") for name in names])
    assert [each.path for each in found.checks] == ["latin.py"]
    assert found.passed_over == {"unclear": 2, "language": 1}


def test_what_cannot_be_parsed_is_not_called_missing(shop: Checkout) -> None:
    anchors = anchored(shop, SYMBOL, ANYWHERE)
    shop.commit(cart_py="def total(:\n  x = (\n")
    assert states(shop, anchors) == ["?", "?"]


def test_an_anchor_that_another_program_made_is_made_again_from_its_commit(shop: Checkout) -> None:
    head = shop.git("rev-parse", "HEAD")
    foreign = [Target("cart.py", name, head, "sym:12") for name in ("total", "refund")] + [
        Target("", "total", head, "sym:12"),
        Target("cart.py", "nobody", head, "sym:12"),
    ]
    shop.write(cart_py="")
    assert states(shop, foreign) == ["current", "current", "current cart.py", "?"]
    shop.commit(cart_py=TOTAL.replace("price", "cost") + "\n\n" + REFUND)
    assert states(shop, foreign) == ["changed", "current", "changed cart.py", "?"]
    shop.commit(cart_py=REFUND)
    assert states(shop, foreign) == ["missing", "current", "missing", "?"]


def test_paths_with_patterns_in_them_are_taken_as_they_are(shop: Checkout) -> None:
    shop.commit(**{"app__[id]__page_py": TOTAL, "app__i__page_py": REFUND})
    target = Target("app/[id]/page.py", "total")
    [anchor] = anchored(shop, target)
    shop.write(app__i__page_py=TOTAL)
    assert seen(shop, [target]).passed_over == {}
    shop.git("mv", "app/[id]/page.py", "app/there.py")
    shop.commit()
    assert states(shop, [anchor]) == ["current app/there.py"]


@pytest.mark.parametrize("path", ["--output=x", "../cart.py", "/etc/passwd", "cart.py\nother.py", ":(top)cart.py"])
def test_nothing_odd_reaches_git(shop: Checkout, path: str) -> None:
    found = seen(shop, [Target(path, ""), Target("cart.py", "-e"), Target("", "")])
    assert found.checks == []


def test_out_of_time_what_was_done_is_kept(shop: Checkout) -> None:
    """C-224."""
    found = seen(shop, [FILE] * 50, seconds=1000)
    assert len(found.checks) == 50
    late = look(Repository(shop.place, shop.git("rev-parse", "HEAD"), Clock(0.0)), [FILE, SYMBOL])
    assert (late.checks, late.passed_over) == ([], {"time": 2})


def test_there_is_nothing_to_look_at_outside_a_repository_and_before_its_first_commit(tmp_path: Path) -> None:
    assert open_repository(tmp_path) is None
    empty = tmp_path / "empty"
    empty.mkdir()
    Checkout(empty).git("init", "-q")
    assert open_repository(empty) is None
    Checkout(empty).git("clone", "-q", "--bare", str(empty), str(tmp_path / "bare.git"))
    assert open_repository(tmp_path / "bare.git") is None


def test_the_variables_of_a_hook_do_not_lead_elsewhere(
    shop: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = checkout(tmp_path / "other", cart_py=REFUND)
    monkeypatch.setenv("GIT_DIR", str(other.place / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.place / ".git" / "index"))
    assert [each.found for each in seen(shop, [SYMBOL]).checks] == [True]


def test_a_repository_that_came_as_files_of_another_one_runs_nothing(shop: Checkout, tmp_path: Path) -> None:
    """A clone may hold a bare repository as plain files, whose settings name a program for git to run."""
    ran = tmp_path / "ran"
    shop.git("init", "-q", "--bare", "inner")
    inner = shop.place / "inner"
    (inner / "config").write_text(
        f'[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "touch {ran}; false"\n'
    )
    within = ("--git-dir", str(inner), "--work-tree", str(inner))
    shop.git(*within, "add", "-f", "description")
    shop.git(*within, "commit", "-q", "-m", "inner")
    ran.unlink(missing_ok=True)
    assert open_repository(inner) is None
    assert not ran.exists()


def test_no_program_of_a_repository_watches_its_files(shop: Checkout, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    shop.git("config", "core.fsmonitor", f"touch {ran}; false")
    assert len(seen(shop, EVERY).checks) == 3
    assert not ran.exists()
