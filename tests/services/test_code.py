"""What memories say of code: recorded, looked at by clients, marked, and kept true through every change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from dolmen.domain.code import Check, Target, View
from dolmen.domain.errors import DolmenError
from dolmen.domain.values import DAY
from dolmen.services import review
from dolmen.services.code.catching_up import DONE, catch_up
from dolmen.services.code.checking import Checked, Targets, counts, report, targets
from dolmen.services.code.views import code_refs, is_stale
from dolmen.services.context import context
from dolmen.services.edit import edit, verify
from dolmen.services.forget import forget
from dolmen.services.reading import read
from dolmen.services.requests import ContextRequest, Edit, Forget, Handoff
from dolmen.services.scopes import alias
from dolmen.services.sessions import handoff
from dolmen.services.transfer import export, import_
from tests.conftest import NewStore
from tests.services.conftest import House, close_house, open_house

SHOP = "github.com/acme/shop"
OLD, NEW = "a" * 40, "b" * 40
SAID = "`Cart.total` in src/cart.py rounds half up"
FILE, SYMBOL = ("src/cart.py", ""), ("src/cart.py", "Cart.total")


def wanted(house: House, project: str = SHOP) -> list[tuple[str, str, str]]:
    return [(t.path, t.symbol, t.anchor_commit) for t in targets(house.rt, house.agent, project).targets]


def said(house: House, *checks: Check, commit: str = NEW, **actor: Any) -> Checked:
    return report(house.rt, house.actor(**actor), SHOP, commit, checks)


def anchor(house: House, *mentions: tuple[str, str]) -> None:
    """Anchors what is mentioned at the commit `OLD`."""
    said(house, *(Check(path, symbol, found=True, hash=f"x:{path}{symbol}") for path, symbol in mentions), commit=OLD)


def changed(path: str, symbol: str) -> Check:
    return Check(path, symbol, OLD, True, "x:other")


def gone(path: str, symbol: str) -> Check:
    return Check(path, symbol, OLD)


def same(path: str, symbol: str) -> Check:
    return Check(path, symbol, OLD, True, f"x:{path}{symbol}")


def states(house: House, ref: str) -> list[str]:
    return [f"{v.path}:{v.symbol} {v.state}" for v in code_refs(house.rt, house.agent, [ref]).get(ref, ())]


def marked(house: House, ref: str) -> object:
    return read(house.rt, house.owner, ref).memory.attrs.get("code")


def stale(house: House) -> str:
    """A memory whose symbol has changed."""
    ref = house.stored(SAID, project=SHOP)
    anchor(house, FILE, SYMBOL)
    said(house, changed(*SYMBOL))
    assert marked(house, ref) == "changed"
    return ref


# ------------------------------------------------------------------------------------------------------------ recording
@pytest.mark.parametrize("kind", ["fact", "convention", "procedure", "code"])
def test_what_a_memory_of_a_project_mentions_is_recorded_when_it_is_written(house: House, kind: str) -> None:
    """C-223."""
    ref = house.stored(SAID, project=SHOP, kind=kind)
    assert code_refs(house.rt, house.agent, [ref]) == {ref: (View(*FILE, "pending", ""), View(*SYMBOL, "pending", ""))}
    assert targets(house.rt, house.agent, SHOP) == Targets(f"project:{SHOP}", (Target(*FILE), Target(*SYMBOL)))


@pytest.mark.parametrize("kind", ["episode", "preference", "state"])
def test_what_happened_and_what_is_liked_follows_no_code(house: House, kind: str) -> None:
    """C-223."""
    house.remember(SAID, house.owner, project=SHOP, kind=kind)
    house.stored(SAID)
    handoff(house.rt, house.agent, Handoff(SAID, project=SHOP))
    assert wanted(house) == []


def test_what_waits_for_a_person_is_looked_at_already_and_what_is_replaced_no_longer(house: House) -> None:
    suggesting = house.actor(mode="suggest")
    waiting = house.remember("See src/new.py", suggesting, project=SHOP)
    old = house.stored("See src/old.py", project=SHOP)
    assert {path for path, _, _ in wanted(house)} == {"src/new.py", "src/old.py"}
    house.remember("See src/newer.py", project=SHOP, supersedes=(old,))
    assert waiting.proposal
    review.reject(house.rt, house.owner, waiting.proposal)
    assert wanted(house) == [("src/newer.py", "", "")]


def test_another_vault_sees_and_changes_nothing(house: House) -> None:
    ref = house.stored(SAID, project=SHOP)
    stranger = replace(house.agent, vault="other", person="stranger")
    assert targets(house.rt, stranger, SHOP).targets == ()
    assert report(house.rt, stranger, SHOP, NEW, [Check(*FILE, found=True, hash="x:1")]) == Checked(unmatched=1)
    assert code_refs(house.rt, stranger, [ref]) == {}
    assert states(house, ref) == ["src/cart.py: pending", "src/cart.py:Cart.total pending"]


# -------------------------------------------------------------------------------------------------------------- reports
def test_a_report_anchors_compares_and_counts(house: House) -> None:
    """C-228, C-231."""
    first, second = house.stored(SAID, project=SHOP), house.stored("src/cart.py is the heart", project=SHOP)
    done = said(house, Check(*FILE, found=True, hash="blob:1"), Check(*SYMBOL), commit=OLD)
    assert done == Checked(3, 2, 0, {"current": 2, "unresolved": 1})
    assert states(house, first) == ["src/cart.py: current"]
    done = said(house, Check(*FILE, OLD, True, "blob:2"), Check("never.py", ""), Check(*FILE, "c" * 40, True, "blob:1"))
    assert done == Checked(2, 0, 2, {"changed": 2})
    assert states(house, second) == ["src/cart.py: changed"]
    assert code_refs(house.rt, house.agent, [second])[second][0].checked_commit == NEW
    assert marked(house, second) is None
    with house.rt.store.read() as tx:
        assert counts(tx, house.agent, SHOP) == {"changed": 2, "unresolved": 1}


def test_what_was_not_found_is_offered_again_behind_what_nobody_has_seen(house: House) -> None:
    """C-226, C-228."""
    house.stored("See src/lost.py", project=SHOP)
    said(house, Check("src/lost.py", ""))
    house.stored("See src/zebra.py", project=SHOP)
    assert wanted(house) == [("src/zebra.py", "", ""), ("src/lost.py", "", "")]


def test_targets_come_in_pages_of_500(house: House) -> None:
    """C-228."""
    for n in range(90):
        house.stored(" ".join(f"d{n}/f{k}.py" for k in range(6)), project=SHOP)
    first = targets(house.rt, house.agent, SHOP).targets
    rest = targets(house.rt, house.agent, SHOP, 500).targets
    assert (len(first), len(rest), len({*first, *rest})) == (500, 40, 540)


def test_a_report_of_more_than_1000_results_is_refused(house: House) -> None:
    """C-228."""
    check = Check("a.py", "")
    assert said(house, *[check] * 1000) == Checked(unmatched=1000)
    with pytest.raises(DolmenError) as refused:
        said(house, *[check] * 1001)
    assert refused.value.code == "too-large"


@pytest.mark.parametrize(
    ("check", "named"),
    [
        (Check("", ""), "path"),
        (Check("../up.py", ""), "path"),
        (Check("a.py", "rm -rf"), "symbol"),
        (Check("a.py", "", "HEAD"), "anchor_commit"),
        (Check("a.py", "", found=True), "hash"),
        (Check("a.py", "", found=True, hash="x" * 301), "hash"),
        (Check("a.py", "", found=True, hash="x", resolved_path="a\nb"), "resolved_path"),
    ],
)
def test_a_wrong_result_is_refused_by_its_field(house: House, check: Check, named: str) -> None:
    with pytest.raises(DolmenError, match=f"^{named} of a result") as refused:
        said(house, check)
    assert refused.value.code == "invalid-argument"


@pytest.mark.parametrize(("mode", "code"), [("read", "read-only"), ("suggest", "forbidden")])
def test_a_report_needs_a_connection_that_may_write(house: House, mode: str, code: str) -> None:
    """C-228."""
    with pytest.raises(DolmenError) as refused:
        said(house, mode=mode)
    assert refused.value.code == code
    assert targets(house.rt, house.actor(mode=mode), SHOP).targets == ()


@pytest.mark.parametrize("project", [None, "user", "*", ""])
def test_code_belongs_to_a_project(house: House, project: str | None) -> None:
    for ask in (
        lambda: targets(house.rt, house.agent, project),
        lambda: report(house.rt, house.agent, project, NEW, []),
    ):
        with pytest.raises(DolmenError) as refused:
            ask()
        assert refused.value.code == "invalid-project"


def test_a_connection_with_a_default_project_need_not_name_it(house: House) -> None:
    house.stored(SAID, project=SHOP)
    assert len(targets(house.rt, house.actor(project=SHOP), None).targets) == 2


# ------------------------------------------------------------------------------------------------------------ staleness
@pytest.mark.parametrize(
    ("checks", "mark"),
    [
        ([changed(*FILE)], None),
        ([changed(*SYMBOL)], "changed"),
        ([gone(*FILE), changed(*SYMBOL)], "gone"),
        ([gone(*SYMBOL)], "gone"),
        ([same(*FILE), same(*SYMBOL)], None),
    ],
)
def test_a_report_marks_what_is_stale(house: House, checks: Sequence[Check], mark: str | None) -> None:
    """C-226, B159, B160."""
    ref = house.stored(SAID, project=SHOP)
    anchor(house, FILE, SYMBOL)
    said(house, *checks)
    assert marked(house, ref) == mark
    said(house, same(*FILE), same(*SYMBOL))
    assert marked(house, ref) is None
    assert read(house.rt, house.agent, ref).memory.version == 1


def test_readers_are_told_what_has_become_of_the_code(house: House) -> None:
    """C-227, B159, B160."""
    ref = house.stored(SAID, project=SHOP)
    [fine] = house.recall("rounds half up", project=SHOP).claims
    assert fine.code == ()
    anchor(house, FILE, SYMBOL)
    said(house, *(replace(each, resolved_path="lib/basket.py") for each in (same(*FILE), changed(*SYMBOL))))
    told = ("src/cart.py is now lib/basket.py", "Cart.total in src/cart.py has changed and is now in lib/basket.py")
    [claim] = house.recall("rounds half up", project=SHOP).claims
    [line] = context(house.rt, house.agent, ContextRequest(project=SHOP)).project
    assert claim.code == line.code == told
    assert read(house.rt, house.agent, ref).code_refs == (
        View(*FILE, "current", NEW, "lib/basket.py"), View(*SYMBOL, "changed", NEW, "lib/basket.py"),
    )  # fmt: skip


def test_what_only_moved_is_not_stale(house: House) -> None:
    """B160."""
    ref = house.stored(SAID, project=SHOP)
    anchor(house, FILE, SYMBOL)
    said(house, *(replace(each, resolved_path="lib/basket.py") for each in (same(*FILE), same(*SYMBOL))))
    assert marked(house, ref) == "moved"
    assert not is_stale(read(house.rt, house.agent, ref).memory)
    said(house, same(*FILE), same(*SYMBOL))
    assert marked(house, ref) is None


def test_in_a_brief_the_stale_ones_of_a_project_come_last(house: House) -> None:
    """C-227."""
    first = house.stored(SAID, project=SHOP, importance=1.0)
    other = house.stored("Deploys go out on Tuesday", project=SHOP, importance=0.1)

    def order() -> list[str]:
        return [claim.ref for claim in context(house.rt, house.agent, ContextRequest(project=SHOP)).project]

    assert order() == [first, other]
    anchor(house, FILE, SYMBOL)
    said(house, gone(*SYMBOL))
    assert order() == [other, first]


def test_stale_memories_rank_lower(house: House) -> None:
    """C-154, C-227, B159."""
    good = house.stored("Rounding of totals: `Tax.total` in src/tax.py", project=SHOP)
    worse = house.stored("Rounding of totals: `Cart.total` in src/cart.py", project=SHOP)
    assert house.refs("rounding of totals", project=SHOP) == [worse, good]
    anchor(house, ("src/tax.py", "Tax.total"), SYMBOL)
    said(house, changed(*SYMBOL))
    shown = house.recall("rounding of totals", project=SHOP).claims
    assert [claim.ref for claim in shown] == [good, worse]
    assert shown[1].score == pytest.approx(0.6 * shown[0].score, rel=0.1)
    said(house, gone(*SYMBOL))
    assert house.recall("rounding of totals", project=SHOP).claims[1].score == pytest.approx(
        0.05 * shown[0].score, rel=0.1
    )


@pytest.mark.parametrize(("mark", "share"), [(changed, 0.6), (gone, 0.05)])
def test_a_stale_memory_does_not_come_first_because_it_has_the_name_that_is_asked_for(
    house: House, mark: Callable[[str, str], Check], share: float
) -> None:
    """C-154, B159: and it is not worth as much as what follows it."""
    old = house.stored("`Cart.total2` in src/cart.py rounds totals up", project=SHOP)
    new = house.stored("Totals of the cart are rounded down since the total is a Money", project=SHOP)
    asked = "how does Cart.total2 round the totals of the cart?"
    [first, _] = house.recall(asked, project=SHOP).claims
    assert first.ref == old
    symbol = ("src/cart.py", "Cart.total2")
    anchor(house, FILE, symbol)
    said(house, mark(*symbol))
    claims = house.recall(asked, project=SHOP).claims
    assert {claim.ref: claim.score for claim in claims}[old] == pytest.approx(share * first.score, rel=0.1)
    assert [claim.score for claim in claims] == sorted((claim.score for claim in claims), reverse=True)
    assert {claim.ref for claim in claims} == {old, new}


def test_a_text_that_is_changed_is_read_anew_and_anchored_anew(house: House) -> None:
    ref = stale(house)
    edit(house.rt, house.agent, Edit(ref, "amend", content="`Cart.total` in src/cart.py rounds down, see `Money`"))
    assert states(house, ref) == [
        "src/cart.py: pending", "src/cart.py:Cart.total pending", "src/cart.py:Money pending",
    ]  # fmt: skip
    assert marked(house, ref) is None
    assert wanted(house)[0] == (*FILE, "")


def test_other_fields_and_the_same_words_leave_anchors_alone(house: House) -> None:
    ref = stale(house)
    edit(house.rt, house.agent, Edit(ref, "amend", fields={"tags": ["money"], "kind": "code"}))
    edit(house.rt, house.agent, Edit(ref, "amend", content=SAID + "."))
    assert states(house, ref) == ["src/cart.py: current", "src/cart.py:Cart.total changed"]
    assert marked(house, ref) == "changed"


def test_what_becomes_an_event_is_no_longer_followed(house: House) -> None:
    ref = stale(house)
    edit(house.rt, house.agent, Edit(ref, "amend", fields={"kind": "episode"}))
    assert (states(house, ref), marked(house, ref), wanted(house)) == ([], None, [])
    edit(house.rt, house.agent, Edit(ref, "restore"))
    assert states(house, ref) == ["src/cart.py: pending", "src/cart.py:Cart.total pending"]


def test_undo_brings_the_anchors_back_with_the_text(house: House) -> None:
    ref = stale(house)
    edit(house.rt, house.agent, Edit(ref, "amend", content="Totals are rounded somewhere"))
    assert (states(house, ref), marked(house, ref)) == ([], None)
    edit(house.rt, house.agent, Edit(ref, "restore"))
    assert states(house, ref) == ["src/cart.py: current", "src/cart.py:Cart.total changed"]
    assert marked(house, ref) == "changed"


def test_undo_does_not_bring_back_a_mark_that_a_later_check_took_away(house: House) -> None:
    ref = stale(house)
    edit(house.rt, house.agent, Edit(ref, "amend", fields={"tags": ["money"]}))
    said(house, same(*SYMBOL))
    edit(house.rt, house.agent, Edit(ref, "restore"))
    assert marked(house, ref) is None


def test_a_forgotten_memory_keeps_its_references_for_when_it_is_brought_back(house: House) -> None:
    ref = stale(house)
    forget(house.rt, house.agent, Forget(ref=ref))
    assert wanted(house) == []
    edit(house.rt, house.owner, Edit(ref, "restore"))
    assert states(house, ref) == ["src/cart.py: current", "src/cart.py:Cart.total changed"]
    forget(house.rt, house.owner, Forget(ref=ref, mode="purge"))
    with house.rt.store.read() as tx:
        assert list(tx.code_refs.stream("main")) == []


def test_what_replaces_a_stale_memory_is_anchored_to_the_code_as_it_is(house: House) -> None:
    """B161."""
    old = stale(house)
    done = edit(house.rt, house.agent, Edit(old, "supersede", content="`Cart.total` in src/cart.py rounds down"))
    assert done.new_ref
    assert states(house, done.new_ref) == ["src/cart.py: pending", "src/cart.py:Cart.total pending"]
    assert states(house, old) == ["src/cart.py: current", "src/cart.py:Cart.total changed"]


def test_who_verifies_a_stale_memory_anchors_it_anew(house: House) -> None:
    ref = stale(house)
    verify(house.rt, house.owner, [ref], "accepted")
    assert marked(house, ref) == "changed"
    verify(house.rt, house.owner, [ref], "verified")
    assert marked(house, ref) is None
    assert wanted(house) == [(*FILE, ""), (*SYMBOL, "")]
    anchor(house, FILE, SYMBOL)
    said(house, changed(*SYMBOL))
    verify(house.rt, house.owner, [ref], "verified")
    assert marked(house, ref) is None


def test_a_renamed_project_keeps_its_anchors(house: House) -> None:
    """B125."""
    ref = stale(house)
    alias(house.rt, house.owner, SHOP, "github.com/acme/store")
    assert wanted(house) == wanted(house, "github.com/acme/store") == [(*FILE, OLD), (*SYMBOL, OLD)]
    said(house, same(*SYMBOL))
    assert marked(house, ref) is None


def test_the_past_shows_what_was_known_then(house: House) -> None:
    ref = house.stored(SAID, project=SHOP)
    then = house.clock.now
    house.clock.advance(DAY)
    anchor(house, FILE, SYMBOL)
    said(house, gone(*SYMBOL))
    assert house.refs("half up", project=SHOP, as_of=then) == [ref]


# ---------------------------------------------------------------------------------------------------------- catching up
def test_memories_from_before_are_read_once_and_keep_their_anchors(house: House) -> None:
    refs = [house.stored(f"See src/f{n}.py", project=SHOP) for n in range(250)]
    anchor(house, ("src/f0.py", ""))
    with house.rt.store.write() as tx:
        for ref in refs[1:]:
            found = tx.code_refs.of("main", [ref])[ref]
            tx.code_refs.remove("main", found)
    assert len(wanted(house)) == 1
    assert catch_up(house.rt) == 249
    assert len(wanted(house)) == 250
    assert states(house, refs[0]) == ["src/f0.py: current"]
    assert catch_up(house.rt) == 0
    with house.rt.store.read() as tx:
        assert tx.accounts.setting("main", DONE) == tx.accounts.setting("other", DONE) != ""


def test_what_an_import_brought_without_references_is_read_afterwards(house: House, new_store: NewStore) -> None:
    house.stored(SAID, project=SHOP)
    lines = [line for line in export(house.rt, house.owner) if '"type":"code_ref"' not in line]
    there = open_house(new_store("sqlite"))
    try:
        assert catch_up(there.rt) == 0
        import_(there.rt, there.owner, lines)
        assert (wanted(there), catch_up(there.rt)) == ([], 2)
    finally:
        close_house(there)


def test_reports_and_edits_at_the_same_time_wait_for_each_other_and_none_fails(house: House) -> None:
    refs = [house.stored(f"`Cart.total` in src/cart.py, rule {n}", project=SHOP) for n in range(8)]
    anchor(house, FILE, SYMBOL)

    def reporting() -> None:
        for n in range(12):
            said(house, changed(*SYMBOL) if n % 2 else same(*SYMBOL), same(*FILE))

    def editing() -> None:
        for n in range(12):
            edit(house.rt, house.agent, Edit(refs[-n % 8], "amend", content=f"`Cart.total` in src/cart.py, edit {n}"))

    with ThreadPoolExecutor(4) as pool:
        for work in [pool.submit(each) for each in (reporting, editing, reporting)]:
            work.result()
    anchor(house, FILE, SYMBOL)
    said(house, same(*SYMBOL), same(*FILE))
    assert [marked(house, ref) for ref in refs] == [None] * 8
