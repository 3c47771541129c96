from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dolmen.domain.errors import DolmenError
from dolmen.domain.tokens import estimate
from dolmen.domain.values import DAY, HOUR
from dolmen.services.edit import edit, link
from dolmen.services.forget import forget
from dolmen.services.requests import Edit, Forget
from tests.services.conftest import House


@pytest.mark.parametrize(
    ("text", "query"),
    [
        pytest.param("The sync job writes to Exports/meeting-logs every night.", "Exports/meeting-logs", id="B001"),
        pytest.param("The phase2-check covers unicode input.", "phase2-check AND unicode", id="B004"),
        pytest.param("Parser::parse_block handles nested lists.", "Parser::parse_block", id="B005"),
        pytest.param("Files live in D:\\Work\\Repo\\ on the build machine.", "repo location", id="B008"),
        pytest.param("Ticket OPS-4711 tracks the outage.", "OPS-4711", id="B020"),
        pytest.param("팀은 점검표를 위키에 보관한다", "점검표", id="B030-particle"),
        pytest.param("팀은 점검표를 위키에 보관한다", "팀", id="B030-one-syllable"),
        pytest.param("팀은 점검표를 위키에 보관한다", "점검표", id="B030-NFD"),
        pytest.param("조선 왕조 기록", "조선", id="B031"),
        pytest.param("조선 왕조 기록", "왕조 기록", id="B031-two-words"),
        pytest.param("仓库清单(depots) 在 NAS 上", "仓库", id="B034"),
        pytest.param("仓库清单(depots) 在 NAS 上", "仓库清单", id="B034-four"),
        pytest.param("退款审批流程 nginx", "退款审批", id="B042"),
        pytest.param("log tail: \x00\x00 done", "log tail done", id="B040"),
    ],
)
def test_a_query_finds_its_memory_whatever_it_is_written_in(house: House, text: str, query: str) -> None:
    ref = house.stored(text)
    house.stored("Lunch is served at noon in the garden.")
    assert house.refs(query)[0] == ref


@pytest.mark.parametrize("query", ["xxxxxxxxxxxx", "zqjw vkpf", "ㅋㅋㅋㅋㅋㅋ", "!!! ???", "\x00", "🦑"])
def test_gibberish_is_answered_with_nothing(knowing_house: House, query: str) -> None:
    """B023."""
    for n in range(12):
        knowing_house.stored(f"Service number {n} is deployed by pipeline {n * 7}.")
    pack = knowing_house.recall(query)
    assert pack.claims == ()
    assert not pack.budget.dropped


def test_a_question_in_other_words_finds_its_memory(knowing_house: House) -> None:
    ref = knowing_house.stored("We rotate the signing keys every ninety days.")
    for text in ("Lunch is at noon.", "The logo is blue.", "CI runs on every push.", "Invoices go out monthly."):
        knowing_house.stored(text)
    for text in ("The mascot is a heron.", "Use tabs in Go.", "Docs live in the wiki.", "The lift is broken."):
        knowing_house.stored(text)
    assert knowing_house.refs("how often do we replace the certificates used for signatures")[0] == ref
    assert knowing_house.refs("서명 키는 얼마나 자주 교체하나요")[0] == ref


def test_a_project_reads_its_own_memories_and_the_users(house: House) -> None:
    """C-28, B135, B194, B009."""
    mine = house.stored("Deploys of alpha go through Jenkins.", project="team-alpha")
    theirs = house.stored("Deploys of beta go through Argo.", project="team-beta")
    everywhere = house.stored("Deploys are announced in the channel.")
    assert set(house.refs("deploys", project="team-alpha")) == {mine, everywhere}
    assert set(house.refs("deploys", project="team-beta")) == {theirs, everywhere}
    assert house.refs("deploys") == [everywhere]
    assert set(house.refs("deploys", project="*")) == {mine, theirs, everywhere}
    assert house.refs("deploys", house.actor(project="team-alpha"), project="user") == [everywhere]


@pytest.mark.parametrize("batches", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_a_small_project_is_found_in_a_large_vault(house: House, batches: int) -> None:
    """B018, B024: the filter comes before every limit."""
    from dolmen.services.remember import remember
    from dolmen.services.requests import NewMemory

    for batch in range(batches):
        items = [NewMemory(f"Release note {batch}-{n} about the deploy pipeline.", project="big") for n in range(200)]
        remember(house.rt, house.agent, items)
    small = {house.stored(f"Deploy pipeline remark {n}.", project="small") for n in range(20)}
    assert set(house.refs("deploy pipeline", project="small", limit=50)) == small


def test_a_short_exact_answer_beats_a_long_padded_one(house: House) -> None:
    """B024."""
    house.stored("The retention of invoices and logs and mails and " + "many other things of the office " * 60)
    ref = house.stored("Invoice retention: 10 years.")
    assert house.refs("invoice retention")[0] == ref


def test_filters_narrow_the_answer(house: House) -> None:
    start = house.clock.now
    house.clock.advance(DAY)
    a = house.stored("Cache decision: use Redis.", kind="decision", tags=("cache", "infra"))
    house.clock.advance(DAY)
    b = house.stored("Cache fact: hit rate is 90 %.", tags=("cache",))
    assert house.refs("cache", kinds=("decision",)) == [a]
    assert house.refs("cache", tags=("cache", "infra")) == [a]
    assert set(house.refs("cache", tags=("cache",))) == {a, b}
    assert house.refs("cache", since=start + DAY + HOUR) == [b]
    assert house.refs("cache", until=start + DAY + HOUR) == [a]


def test_the_past_can_be_asked(house: House) -> None:
    """C-129: what was known then, in the words of then."""
    ref = house.stored("The queue is RabbitMQ.")
    gone = house.stored("The queue dashboard is on port 15672.")
    then = house.clock.now
    house.clock.advance(DAY)
    edit(house.rt, house.agent, Edit(ref, "amend", "The queue is NATS."))
    forget(house.rt, house.agent, Forget(ref=gone))
    new = house.stored("The queue has two consumers.")
    past = house.recall("queue", as_of=then)
    assert {c.ref: c.text for c in past.claims} == {
        ref: "The queue is RabbitMQ.",
        gone: "The queue dashboard is on port 15672.",
    }
    assert house.refs("RabbitMQ", as_of=then) == [ref]
    assert set(house.refs("queue")) == {ref, new}


def test_the_budget_is_kept_and_what_is_left_out_is_said(house: House) -> None:
    """C-10, C-189, B170."""
    for n in range(20):
        house.stored(f"Deployment note {n}: " + f"the deployment of service {n} needs care. " * 20)
    pack = house.recall("deployment note", limit=20, budget_tokens=1500)
    assert 0 < len(pack.claims) < 20
    assert pack.budget.used <= 1500
    assert sum(estimate(c.text) for c in pack.claims) <= pack.budget.used
    assert pack.budget.dropped == 20 - len(pack.claims)
    assert pack.partial


def test_one_giant_memory_is_shown_by_its_passage_with_a_handle(house: House) -> None:
    """B170, B177: the last line of a long text is found and shown."""
    text = "\n".join(f"Line {n} speaks of ordinary matters and nothing else." for n in range(130))
    ref = house.stored(text + "\nThe vault code is heliotrope.")
    [claim] = house.recall("heliotrope").claims
    assert claim.ref == ref
    assert "heliotrope" in claim.text
    assert claim.span is not None
    assert len(claim.text) <= 1500
    [tiny] = house.recall("heliotrope", budget_tokens=200).claims
    assert house.recall("heliotrope", budget_tokens=200).budget.used <= 200 or len(tiny.text) <= 40


def test_pages_follow_one_another_without_overlap(house: House) -> None:
    refs = {house.stored(f"Server rack {n} holds machine {n}.") for n in range(25)}
    seen: list[str] = []
    cursor = None
    for _ in range(3):
        pack = house.recall("server rack machine", limit=10, cursor=cursor, budget_tokens=32_000)
        seen += [c.ref for c in pack.claims]
        cursor = pack.cursor
    assert cursor is None
    assert len(seen) == 25
    assert set(seen) == refs
    with pytest.raises(DolmenError) as refused:
        house.recall("another query", cursor=house.recall("server rack machine").cursor)
    assert refused.value.code == "invalid-argument"


def test_competing_claims_are_shown_as_conflicts(house: House) -> None:
    """C-118: contradicting links, and the same statement with another value."""
    a = house.stored("The API rate limit is 100 requests per minute.")
    b = house.stored("The API rate limit is 250 requests per minute.")
    pack = house.recall("API rate limit")
    assert [set(c.refs) for c in pack.conflicts] == [{a, b}]
    c = house.stored("Rate limits are documented in the handbook.")
    link(house.rt, house.agent, c, "contradicts", a)
    whys = {c.why for c in house.recall("API rate limit").conflicts}
    assert whys == {"different values", "linked as contradicting"}


def test_what_nothing_covers_is_named_as_a_gap(house: House) -> None:
    """C-190."""
    house.stored("The deploy of checkout runs at night.")
    pack = house.recall("deploy of checkout on KUBE-7 by Nakamura")
    assert set(pack.gaps) == {"KUBE-7", "Nakamura"}
    assert house.recall("deploy of checkout").gaps == ()


def test_exact_mode_greps(house: House) -> None:
    a = house.stored("Run `make build -j8` first.")
    house.stored("Building makes sense.")
    assert house.refs("make build -j8", mode="exact") == [a]
    assert house.refs("MAKE BUILD", mode="exact") == [a]


def test_timeline_mode_is_in_the_order_of_time(house: House) -> None:
    refs = [house.stored(f"Migration step {n} of the database is done.") for n in range(4)]
    assert house.refs("migration database", mode="timeline") == refs


def test_cases_mode_tells_each_case_as_a_story(house: House) -> None:
    """C-249."""
    from dolmen.domain.memory import Case

    house.stored("Login failed with 500.", kind="error", case=Case("INC-1", goal="restore login"))
    house.clock.advance(HOUR)
    house.stored(
        "Login works after the cache flush.", case=Case("INC-1", outcome="cache flushed", resolution="resolved")
    )
    house.stored("Login page is blue.")
    [case] = house.recall("login", mode="cases").cases
    assert (case.id, case.goal, case.outcome, case.resolution) == (
        "INC-1",
        "restore login",
        "cache flushed",
        "resolved",
    )
    assert [e.text for e in case.events] == ["Login failed with 500.", "Login works after the cache flush."]


def test_an_empty_query_lists_the_newest(house: House) -> None:
    refs = [house.stored(f"Fact {n}.") for n in range(3)]
    assert house.refs("  ") == refs[::-1]


def test_recent_work_is_preferred_when_it_is_asked_for(house: House) -> None:
    """C-155, in English and Korean."""
    old = house.stored("We worked on the importer tests.")
    house.clock.advance(60 * DAY)
    new = house.stored("We worked on the importer docs.")
    assert house.refs("what was the latest importer work")[0] == new
    assert house.refs("최근 importer 작업")[0] == new
    assert set(house.refs("importer work")) == {old, new}


def test_a_query_is_redacted_before_it_is_recorded(house: House) -> None:
    """C-300."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    pack = house.recall(f"who uses {secret}")
    house.rt.journal.flush()
    assert secret not in pack.query
    assert pack.event is not None
    with house.rt.store.read() as tx:
        event = tx.journal.event("main", pack.event)
    assert event is not None
    assert secret not in event.query


def test_an_overlong_query_is_cut_and_that_is_said(house: House) -> None:
    """C-148."""
    house.stored("A fact about herons.")
    pack = house.recall("heron " * 1000)
    assert len(pack.query) == 2000
    assert any("cut" in note for note in pack.notes)
    assert pack.partial


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(query=st.text(max_size=120))
def test_any_query_is_answered(house: House, query: str) -> None:
    """B001, DESIGN rule 3."""
    if not house.refs("anchor"):
        house.stored('An anchor memory: "quotes" AND (brackets) NEAR/3 col:on * - \' %.')
    pack = house.recall(query)
    assert pack.budget.used >= 0


def test_a_submodule_shows_the_memory_of_what_is_around_it(house: House) -> None:
    """B121: never an empty surprise; what is written there is its own."""
    outer = house.stored("Releases of the product are cut on Tuesdays.", project="product")
    inside = house.actor(project="library", parents=("product",))
    own = house.stored("Releases of the library follow semver.", inside)
    assert set(house.refs("releases", inside)) == {outer, own}
    assert house.refs("releases", project="library") == [own]
    assert house.refs("releases", project="product") == [outer]
    with pytest.raises(DolmenError):
        forget(house.rt, inside, Forget(query="Releases of the product"))


def test_without_embeddings_nothing_is_missing(house: House) -> None:
    """Switched off is a choice: no note, nothing partial."""
    house.stored("Herons nest in May.")
    pack = house.recall("when do herons nest")
    assert (pack.notes, pack.partial, pack.index_health["legs"]) == ((), False, ["words"])


def test_a_forgotten_memory_is_in_no_conflict(house: House) -> None:
    a = house.stored("The API rate limit is 100 requests per minute.")
    b = house.stored("Throttling happens at the gateway.")
    link(house.rt, house.agent, a, "contradicts", b)
    assert len(house.recall("API rate limit").conflicts) == 1
    forget(house.rt, house.agent, Forget(ref=b))
    assert house.recall("API rate limit").conflicts == ()


def test_ports_of_different_services_do_not_compete(house: House) -> None:
    house.stored("The billing service listens on port 8080.")
    house.stored("The search service listens on port 9090.")
    assert house.recall("which port does the service listen on").conflicts == ()


def test_without_a_budget_a_recall_gives_as_many_claims_as_were_asked_for(house: House) -> None:
    """C-148."""
    for n in range(30):
        house.stored(f"배포 절차 {n}: " + "배포는 화요일에 한다. " * 120)
    assert len(house.recall("배포 절차", limit=30).claims) < 30
    assert len(house.recall("배포 절차", limit=30, budget_tokens=None).claims) == 30
