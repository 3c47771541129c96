"""What an answer holds besides its claims: copies, conflicts, gaps, a cursor, the times that a question names."""

from __future__ import annotations

import pytest

from dolmen.domain.timeframe import format_utc, local
from dolmen.domain.values import DAY, HOUR
from dolmen.services.edit import edit
from dolmen.services.forget import forget
from dolmen.services.remember import remember
from dolmen.services.requests import Edit, Forget, NewMemory
from dolmen.services.search import exact
from tests.services.conftest import House


# --------------------------------------------------------------------------------------------------------------- copies
def test_copies_of_a_fact_are_one_claim_that_names_them(house: House) -> None:
    same = [
        house.stored("The staging database lives on host db-7.", project="a"),
        house.stored("the staging database lives on host db-7", kind="decision", project="a"),
        house.stored("Note: the staging database is on host db-7!", project="a"),
    ]
    other = house.stored("The staging database is backed up at two.", project="a")
    pack = house.recall("where is the staging database", project="a")
    assert len(pack.claims) == 2
    assert other in {claim.ref for claim in pack.claims}
    [claim] = [claim for claim in pack.claims if claim.also]
    assert {claim.ref, *claim.also} == set(same)
    assert "lives" in claim.text  # the one that says most
    assert pack.conflicts == ()


def test_copies_do_not_take_the_places_of_others(house: House) -> None:
    """Also where there are more of them than a search looks at in the first place."""
    fact = "The heron colony counts its nests in May."
    remember(house.rt, house.agent, [NewMemory(fact, project=f"p{n}") for n in range(60)])
    others = {
        house.stored(f"Heron colony {n} nests by the lake called {name}.") for n, name in enumerate(("Aa", "Bo", "Cy"))
    }
    pack = house.recall("heron colony nests May", project="*", limit=4)
    assert len(pack.claims) == 4
    assert others < {claim.ref for claim in pack.claims}
    [head] = [claim for claim in pack.claims if claim.also]
    assert len(head.also) == 8
    assert pack.budget.dropped > 0


def test_what_a_timeline_a_grep_and_a_case_tell_is_told_whole(house: House) -> None:
    refs = [house.stored("Backup failed.", project=name) for name in ("a", "b")]
    assert sorted(house.refs("backup failed", project="*", mode="timeline")) == sorted(refs)
    assert sorted(house.refs("backup failed", project="*", mode="exact")) == sorted(refs)
    assert len(house.refs("backup failed", project="*")) == 1


def test_a_copy_of_another_status_is_no_copy(house: House) -> None:
    old = house.stored("The queue is RabbitMQ.")
    new = edit(house.rt, house.agent, Edit(old, "supersede", "The queue is just RabbitMQ.")).new_ref
    pack = house.recall("queue RabbitMQ", include=("superseded",))
    assert {claim.ref for claim in pack.claims} == {old, new}


# ------------------------------------------------------------------------------------------------------------ conflicts
def test_a_chain_of_replacements_leads_to_what_holds_now(house: House) -> None:
    """C-118: the first, superseded twice, is told with the last, though it is not among the answers."""
    first = house.stored("The deploy window is Monday morning.")
    second = edit(house.rt, house.agent, Edit(first, "supersede", "Deployments go out on Tuesdays.")).new_ref
    assert second is not None
    third = edit(house.rt, house.agent, Edit(second, "supersede", "Releases ship daily.")).new_ref
    pack = house.recall("deploy window Monday", include=("superseded",))
    assert pack.claims[0].ref == first
    assert (first, third) in {conflict.refs for conflict in pack.conflicts}
    forget(house.rt, house.agent, Forget(ref=third))
    assert all(third not in c.refs for c in house.recall("deploy window Monday", include=("superseded",)).conflicts)


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("The message queue is RabbitMQ.", "The message queue is NATS.", "different values"),
        ("메시지 큐는 RabbitMQ를 쓴다", "메시지 큐는 NATS를 쓴다", "different values"),
        ("The message queue keeps 7 days.", "The message queue keeps 30 days.", "different values"),
        ("The message queue is encrypted at rest.", "The message queue is not encrypted at rest.", "one says not"),
    ],
)
def test_nearly_the_same_with_another_value_or_a_negation_competes(
    house: House, one: str, other: str, why: str
) -> None:
    refs = {house.stored(one), house.stored(other)}
    pack = house.recall("message queue 메시지 큐")
    assert [(set(c.refs), c.why) for c in pack.conflicts] == [(refs, why)]


# ----------------------------------------------------------------------------------------------------------------- gaps
def test_what_is_quoted_is_a_name(house: House) -> None:
    """C-190"""
    house.stored("The deploy of checkout runs at night.")
    assert house.recall('deploy of checkout by "heliotrope"').gaps == ("heliotrope",)
    assert house.recall("checkout deploy on iPad and GraphQL").gaps == ("iPad", "GraphQL")
    assert house.recall("checkout " + "x1" * 500).gaps == ("x1" * 40 + "…",)


def test_every_aspect_that_nothing_covers_is_named_when_no_answer_is_sure(house: House) -> None:
    house.stored("The deploy of checkout runs at night.")
    pack = house.recall("vacation carryover rules")
    assert pack.claims == ()
    assert set(pack.gaps) == {"vacation", "carryover", "rules"}
    assert house.recall("휴가 이월 규정").gaps == ("휴가", "이월", "규정")
    assert house.recall("why did he tell us of vacation?").gaps == ("vacation",), "no function word, in no form"


def test_a_word_that_no_memory_has_is_named_beside_what_has_only_the_common_ones(house: House) -> None:
    """C-190: in a store where every other word stands somewhere, the one that is nowhere is what was asked about."""
    many = [NewMemory(f"The office of team {n} keeps hours {n} and works on weekends in May {n}.") for n in range(500)]
    assert house.stored("Logs are kept for 30 days.")
    assert house.recall("Do we retain logs for 30 days?").gaps == (), "of little memory many words are absent"
    for start in range(0, 500, 100):
        remember(house.rt, house.agent, many[start : start + 100])
    assert house.recall("Who feeds the office parrot on weekends?").gaps == ("feeds", "parrot")
    assert house.recall("Which team works on weekends?").gaps == ()


def test_words_that_were_not_looked_up_are_not_called_missing(house: House) -> None:
    """Of a long query only the most telling words are looked up."""
    text = " ".join(f"Name{n:03}" for n in range(80))
    house.stored(text)
    assert house.recall(text).gaps == ()


# --------------------------------------------------------------------------------------------------------------- cursor
def test_pages_stay_whole_while_memories_are_added_and_forgotten(house: House) -> None:
    before = [house.stored(f"Server rack {n} holds machine {n}.") for n in range(20)]
    first = house.recall("server rack machine", limit=8)
    shown = [claim.ref for claim in first.claims]
    house.clock.advance(HOUR)
    added = {house.stored(f"Server rack machine {n}.") for n in range(20, 26)}
    forget(house.rt, house.agent, Forget(refs=(shown[0], shown[3])))
    cursor = first.cursor
    while cursor is not None:
        pack = house.recall("server rack machine", limit=8, cursor=cursor)
        shown += [claim.ref for claim in pack.claims]
        cursor = pack.cursor
    assert sorted(shown) == sorted(before)
    assert added < set(house.refs("server rack machine", limit=50))


def test_a_page_goes_on_though_the_last_one_that_was_shown_is_gone(house: House) -> None:
    refs = {house.stored(f"Server rack {n} holds machine {n}.") for n in range(12)}
    first = house.recall("server rack machine", limit=5)
    forget(house.rt, house.agent, Forget(ref=first.claims[-1].ref))
    second = house.recall("server rack machine", limit=5, cursor=first.cursor)
    left = refs - {claim.ref for claim in first.claims}
    assert {claim.ref for claim in second.claims} <= left
    assert len(second.claims) == 5


# ----------------------------------------------------------------------------------------------------------------- grep
@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("Set DOLMEN_PORT=7077 first.", "PORT=70"),
        ("경로는 /var/log/app 이다", "log/ap"),
        ("仓库清单(depots) 在 NAS 上", "清单(de"),
        ("The regex is ^[a-z]+$ here", "^[a-z]+$"),
        ("Straße und Fluß", "STRASSE"),
        ("ends with 🦑 squid", "🦑"),
        ("100% of it, 5_000", "% of"),
    ],
)
def test_exact_mode_finds_any_part_in_any_script(house: House, text: str, part: str) -> None:
    ref = house.stored(text)
    house.stored("Something else, of no matter to anybody here.")
    assert house.refs(part, mode="exact") == [ref]


def test_exact_mode_is_bounded_and_says_so(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole words are found however old they are, parts of words among the newest."""
    import sys

    module = sys.modules[exact.__module__]
    monkeypatch.setattr(module, "SCANNED", 40)
    monkeypatch.setattr(module, "_PAGE", 20)
    old = house.stored("The heliotrope ledger.")
    house.clock.advance(DAY)
    remember(house.rt, house.agent, [NewMemory(f"Entry number {n}.") for n in range(60)])
    new = house.stored("The heliotropes bloom.")
    whole = house.recall("heliotrope", mode="exact")
    assert [claim.ref for claim in whole.claims] == [new, old]
    part = house.recall("eliotrop", mode="exact")
    assert [claim.ref for claim in part.claims] == [new]
    assert "newest 40" in part.notes[0]
    assert part.partial
    assert len(house.refs("Entry", mode="exact", limit=30)) == 30


def test_exact_pages_follow_one_another_newest_first(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setattr(sys.modules[exact.__module__], "_PAGE", 7)
    refs = [house.stored(f"Heron log {n}" if n % 2 else f"Heronlog {n}") for n in range(30)]
    seen: list[str] = []
    cursor = None
    while True:
        pack = house.recall("heron", mode="exact", limit=8, cursor=cursor)
        seen += [claim.ref for claim in pack.claims]
        cursor = pack.cursor
        if cursor is None:
            break
    assert seen == refs[::-1]


# ----------------------------------------------------------------------------------------------------------------- time
def test_a_time_in_the_query_lifts_and_hides_nothing(house: House) -> None:
    refs = []
    for _ in range(4):
        refs.append(house.stored(f"The importer was changed, round {len(refs)}."))
        house.clock.advance(7 * DAY)
    day = local(house.clock.now - 21 * DAY, "UTC")[:10]
    pack = house.recall(f"importer changes on {day}")
    assert pack.claims[0].ref == refs[1]
    assert {claim.ref for claim in pack.claims} == set(refs)
    assert pack.notes[0] == (
        f"Times in the query: 'on {day}' = from {day} 00:00 to {local(house.clock.now - 20 * DAY, 'UTC')[:10]} 00:00 "
        "(UTC). What is from then ranks higher; nothing was left out."
    )
    assert not pack.partial
    assert not any("Times" in note for note in house.recall("importer changes").notes)


@pytest.mark.parametrize("query", ["importer work three weeks ago", "3주 전 importer 작업"])
def test_a_time_in_words_counts_in_the_askers_zone(house: House, query: str) -> None:
    """B166: 23:30 in Seoul is that day there, whatever the clock says in UTC."""
    start = house.clock.now
    midnight = start - start % DAY + 15 * HOUR  # of a day in Seoul
    house.clock.now = midnight - HOUR // 2
    late = house.stored("The importer work, evening.")
    house.clock.now = midnight + HOUR // 2
    early = house.stored("The importer work, night.")
    house.clock.now = midnight + 21 * DAY + HOUR
    assert house.refs(query, zone="Asia/Seoul")[0] == early
    house.clock.now = midnight + 20 * DAY + HOUR
    assert house.refs(query, zone="Asia/Seoul")[0] == late
    assert "(Asia/Seoul)" in house.recall(query, zone="Asia/Seoul").notes[0]


@pytest.mark.parametrize(
    "query",
    [
        "what did we do yesterday?",
        "what's from yesterday",
        "yesterday's notes",
        "어제 뭐 했지",
        "what happened yesterday",
        "어제 한 작업",
    ],
)
def test_a_question_about_a_time_alone_is_answered_with_what_is_from_then(house: House, query: str) -> None:
    house.stored("Long ago the importer was written.")
    house.clock.advance(3 * DAY)
    parser = house.stored("The parser learned to nest.")
    lexer = house.stored("Tokens carry their line.")
    house.clock.advance(DAY)
    house.stored("Coverage reached 90 percent.")
    pack = house.recall(query)
    assert [claim.ref for claim in pack.claims][:2] == [lexer, parser]
    assert "newest" in pack.index_health["legs"]
    assert house.refs(query, kinds=("decision",)) == []
    assert house.refs("what about the importer yesterday")[:1] != [lexer]


@pytest.mark.parametrize(
    "query",
    [
        "what was the most recent work?", "latest", "What did we do last time?", "summarize the last session",
        "what have we been working on lately", "what's the latest update", "show me the most recent tasks",
        "최근 작업", "최근에 한 작업이 뭐야?", "지난번에 뭐 했지?", "마지막 세션 내용 알려줘",
        "최근에 뭘 했더라", "지난 세션에서 한 일",
    ],
)  # fmt: skip
def test_a_question_about_the_latest_alone_is_answered_with_what_is_newest(house: House, query: str) -> None:
    """C-155"""
    house.stored("The recent work of the latest session was summarized: 최근 작업, 지난 세션.")
    house.clock.advance(30 * DAY)
    parser = house.stored("The parser learned to nest.")
    house.clock.advance(DAY)
    lexer = house.stored("Tokens carry their line.")
    pack = house.recall(query)
    assert [claim.ref for claim in pack.claims][:2] == [lexer, parser]
    assert pack.gaps == ()


@pytest.mark.parametrize(
    "query", ["the latest parser", "what was the last decision on lines", "최근 파서 작업", "최근 이가은"]
)
def test_a_question_about_the_latest_of_a_subject_is_a_search(house: House, query: str) -> None:
    house.stored("Coverage reached 90 percent.")
    assert "newest" not in house.recall(query).index_health["legs"]


def test_a_range_replaces_the_wish_for_recent_work(house: House) -> None:
    """C-155: last month is not lately."""
    house.clock.now = 1_789_000_000_000_000
    then = house.stored("Importer rework, first part.")
    house.clock.advance(31 * DAY)
    house.stored("Importer rework, second part.")
    month = format_utc(house.clock.now - 31 * DAY)[:7]
    assert house.refs(f"the importer rework of {month}")[0] == then
    assert house.refs("importer rework last month")[0] == then
