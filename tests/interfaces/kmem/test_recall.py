"""`recall`: a ContextPack that can be checked, and that says what it does not know, on both engines."""

from __future__ import annotations

import re

import pytest

from dolmen.domain.values import DAY
from tests.interfaces.kmem.conftest import Agent
from tests.snapshots.write import tokens

LAKES = {"note": "Balaton", "decision": "Garda", "convention": "Ohrid", "state": "Sevan", "reference": "Vattern"}
"""A lake for each type of note, so that no statement says the same as another."""
AUTH = "## Session handling\n\n- [decision] We chose session cookies over JWT, because revocation is simpler.\n"


def test_a_pack_has_the_documents_fields(agent: Agent) -> None:
    """C-189, C-74, C-134, C-193."""
    permalink = agent.note(AUTH, "decision", title="Auth decision", folder="backend", links=["backend/session-store"])
    agent.note("Sessions live in Redis.", title="Session store", folder="backend")
    pack = agent.do("recall", query="why did we choose session cookies?", budget_tokens=3000)
    assert list(pack) == [
        *("query", "budget_tokens", "used_tokens", "claims", "conflicts", "gaps", "index_health", "budget", "partial"),
    ]
    assert pack["query"] == "why did we choose session cookies?"
    assert set(pack["index_health"]) == {"embedding_coverage", "lag_seconds"}
    assert set(pack["budget"]) == {"requested", "used", "report", "dropped"}
    assert pack["budget"]["requested"] == pack["budget_tokens"] == 3000
    assert pack["budget"]["used"] == pack["used_tokens"]
    claim = pack["claims"][0]
    assert list(claim) == [
        *("ref", "note", "kind", "heading", "text", "version", "status", "updated", "provenance", "freshness"),
        *("score", "related"),
    ]
    assert re.fullmatch(r"kmem://backend/auth-decision#blk_[0-9a-f]{8}", claim["ref"])
    assert claim["note"] == permalink
    assert (claim["kind"], claim["heading"], claim["status"]) == ("decision", "Session handling", "current")
    assert claim["text"] == "We chose session cookies over JWT, because revocation is simpler."
    assert claim["version"] == agent.read(permalink)["content_sha"][:12]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", claim["updated"])
    assert set(claim["provenance"]) == {"author_kind", "author", "created_at", "state"}
    assert claim["freshness"] == 1.0
    assert 0 < claim["score"] <= 1
    assert claim["related"] == ["kmem://backend/session-store"]


@pytest.mark.parametrize("budget", [0, -1, -4000])
def test_a_budget_that_nothing_fits_into_is_refused(agent: Agent, budget: int) -> None:
    """C-189: an answer without claims would read as if nothing were known."""
    agent.note("Herons nest early.")
    error = agent.refused("recall", query="herons", budget_tokens=budget)
    assert (error["code"], f"budget_tokens is {budget}" in error["message"]) == ("invalid-argument", True)
    assert "200 to 32000" in error["fix"]


@pytest.mark.parametrize(("budget", "taken"), [(1, 200), (90_000, 32_000)])
def test_a_budget_that_is_not_kept_as_it_was_named_is_said(agent: Agent, budget: int, taken: int) -> None:
    """C-189: `used_tokens` is never above what the answer says it was packed into."""
    agent.note("Herons nest early.")
    pack = agent.do("recall", query="herons", budget_tokens=budget)
    assert pack["notes"] == [f"budget_tokens {budget} was taken as {taken}"]
    assert 0 < pack["used_tokens"] <= taken


def test_every_claim_is_of_one_of_the_five_kinds(agent: Agent) -> None:
    """C-72, C-238: a relation line and a word of the writer's own are found and shown as `note`."""
    lines = "- depends_on [[Heron pond]]\n- [gotcha] Herons bite.\n- [rule] Herons stay.\n- [note] Herons nap.\n"
    ref = agent.note(f"{lines}\nHerons nest.\n", "decision", title="Herons")
    kinds = {claim["text"]: claim["kind"] for claim in agent.claims("herons")}
    assert kinds["depends_on [[Heron pond]]"] == "note"
    assert set(kinds.values()) <= {"note", "decision", "convention", "state", "reference"}
    assert (kinds["Herons nest."], kinds["Herons stay."], kinds["Herons nap."]) == ("decision", "convention", "note")
    assert {block["kind"] for block in agent.read(ref)["blocks"]} <= set(LAKES)
    assert agent.read(agent.block(ref, "depends_on"))["kind"] == "note"
    for kind in set(kinds.values()):
        found = agent.claims("herons", types=[kind])
        assert {claim["kind"] for claim in found} == {kind}, "what `types` finds is what it says"


def test_the_version_tells_that_a_cited_note_moved(agent: Agent) -> None:
    """C-134."""
    ref = agent.note(AUTH, "decision", title="Auth")
    [before] = agent.claims("session cookies")
    agent.do("edit", ref=ref, op="append", content="Herons nest.")
    [after] = [c for c in agent.claims("session cookies") if c["text"] == before["text"]]
    assert (before["ref"], before["version"] == after["version"]) == (after["ref"], False)


def test_a_state_goes_stale_sooner_than_a_decision_and_that_than_a_convention(agent: Agent) -> None:
    """C-72, C-269: freshness by the kind's half-life; the age counts from the last change or mark."""
    for kind, lake in LAKES.items():
        agent.note(f"The heron rule of lake {lake}.", kind, title=kind)
    agent.house.clock.advance(30 * DAY)
    fresh = {claim["kind"]: claim["freshness"] for claim in agent.claims("heron rule")}
    assert fresh["state"] == 0.5
    assert fresh["state"] < fresh["note"] < fresh["decision"] < fresh["convention"] < 1
    agent.do("verify", ref="state", state="verified")
    assert {c["kind"]: c["freshness"] for c in agent.claims("heron rule")}["state"] == 1.0


def test_what_is_fresher_ranks_higher_where_the_words_are_the_same(agent: Agent) -> None:
    """C-176: among statements of one kind by their age, among kinds by their half-life."""
    agent.note("The heron rule of lake Como.", "state", title="Old state")
    agent.note("The heron rule of lake Garda.", "convention", title="Old convention")
    agent.house.clock.advance(120 * DAY)
    agent.note("The heron rule of lake Iseo.", "state", title="New state")
    found = [claim["note"] for claim in agent.claims("heron rule")]
    assert found.index("new-state") < found.index("old-state")
    assert found.index("old-convention") < found.index("old-state")


def test_what_has_the_identifier_that_was_asked_for_comes_first(knowing: Agent) -> None:
    """C-176: also where others are nearer to the question by all that it says besides."""
    knowing.note("Bought at the market: apples, pears, plums, two loaves, cheese. KUBE-7.", title="Other words")
    for day in ("Monday", "Tuesday", "Friday"):
        knowing.note(f"The release of the cluster is held back by a broken upgrade test since {day}.", title=day)
    found = knowing.claims("why is the release of the cluster held back since Monday, is it KUBE-7?")
    assert [claim["note"] for claim in found][:2] == ["other-words", "monday"]


def test_types_restrict_the_answer_and_note_is_everything_else(agent: Agent) -> None:
    """C-72."""
    for kind, lake in LAKES.items():
        agent.note(f"The heron rule of lake {lake}.", kind, title=kind)
    agent.note("- [howto] The heron rule of procedures.", title="How")
    assert {c["note"] for c in agent.claims("heron rule", types=["decision", "state"])} == {"decision", "state"}
    assert {c["note"] for c in agent.claims("heron rule", types=["note"])} == {"note", "how"}
    assert agent.refused("recall", query="x", types=["opinion"])["code"] == "invalid-argument"


def test_since_is_a_date(agent: Agent) -> None:
    agent.note("Old heron.", title="Old")
    agent.house.clock.advance(10 * DAY)
    new = agent.note("New heron.", title="New")
    [claim] = [c for c in agent.claims("heron") if c["note"] == new]
    assert [c["note"] for c in agent.claims("heron", since=claim["updated"])] == [new]
    assert agent.refused("recall", query="heron", since="whenever")["code"] == "invalid-time"


def test_include_unverified_is_taken_and_ignored(agent: Agent) -> None:
    """C-146."""
    agent.note("Herons nest.", title="Herons")
    agent.do("verify", ref="herons", state="unverified")
    answers = [agent.do("recall", query="herons", **args) for args in ({}, {"include_unverified": False})]
    assert answers[0]["claims"] == answers[1]["claims"]


def test_a_query_has_2000_characters_at_most_and_any_sign(agent: Agent) -> None:
    """C-175, C-342, DESIGN rule 3."""
    agent.note("Herons nest.", title="Herons")
    assert agent.do("recall", query='"heron* AND (NEAR) 🦩 \x00 herons')["claims"]
    assert agent.refused("recall", query="h" * 2001)["code"] == "too-large"
    assert agent.refused("recall", query="  ")["code"] == "invalid-argument"


# ------------------------------------------------------------------------------------------------------------- budgets
def test_the_claims_fit_the_budget_and_what_did_not_fit_is_counted(agent: Agent) -> None:
    """C-190: `used` is what the claims cost; the rest is dropped, and the pack says that it is partial."""
    for n in range(12):
        agent.note(f"Heron {n} nests in the reeds of lake {n} each spring, as seen by the warden.", title=f"Heron {n}")
    pack = agent.do("recall", query="herons nest in reeds", budget_tokens=700)
    assert pack["claims"]
    assert pack["used_tokens"] <= 700
    assert pack["budget"]["dropped"] > 0
    assert pack["partial"] is True
    real = sum(tokens(str(claim)) for claim in pack["claims"])
    assert real <= pack["used_tokens"] * 1.15, "what it says it costs is what it costs"
    whole = agent.do("recall", query="herons nest in reeds", budget_tokens=32_000)
    assert (len(whole["claims"]), whole["budget"]["dropped"], whole["partial"]) == (12, 0, False)


def test_an_answer_that_is_larger_than_the_budget_is_cut_to_it_and_says_so(agent: Agent) -> None:
    """C-189, C-190: a pack without claims would read as if nothing were known."""
    agent.note("Herons nest in the reeds. " + "They are grey and tall, and stand still for long. " * 26, title="Herons")
    agent.note("Herons eat fish.", title="Food")
    pack = agent.do("recall", query="where do herons nest in reeds?", budget_tokens=200)
    [claim] = pack["claims"]
    assert claim["text"].startswith("Herons nest in the reeds.")
    assert (claim["truncated"], pack["partial"], pack["budget"]["dropped"]) == (True, True, 1)
    assert pack["used_tokens"] <= 200
    whole = agent.do("recall", query="where do herons nest in reeds?", budget_tokens=2000)
    assert not any("truncated" in claim for claim in whole["claims"])


def test_a_block_of_which_a_part_is_quoted_says_so(agent: Agent) -> None:
    """C-235: the whole is read by its ref."""
    agent.note("Herons nest in the reeds. " + "They are grey and tall, and stand still for long. " * 60, title="Herons")
    [claim] = agent.claims("where do herons nest in reeds?")
    assert claim["truncated"] is True
    assert len(agent.read(claim["ref"])["text"]) > len(claim["text"])


def test_conflicts_are_told_with_refs_and_cost_the_report_alone(agent: Agent) -> None:
    """C-118, C-190."""
    one = agent.note("The port of the API is 8080.", title="Port one")
    two = agent.note("The port of the API is 9090.", title="Port two")
    pack = agent.do("recall", query="port of the API")
    [conflict] = pack["conflicts"]
    assert {ref.partition("#")[0] for ref in conflict["refs"]} == {f"kmem://{one}", f"kmem://{two}"}
    assert conflict["why"]
    assert pack["budget"]["report"] > 0
    agent.do("verify", ref=one, state="superseded")
    settled = agent.do("recall", query="port of the API")
    assert (settled["conflicts"], settled["budget"]["report"]) == ([], 0)


# ---------------------------------------------------------------------------------------------------- we don't know
def test_an_empty_knowledge_base_says_that_it_knows_nothing(agent: Agent) -> None:
    """C-190: gaps are never empty when there is no claim."""
    pack = agent.do("recall", query="which database do we use?")
    assert pack["claims"] == []
    assert pack["gaps"][0] == "Nothing here answers this."
    assert pack["budget"]["report"] > 0


@pytest.mark.parametrize(
    ("query", "missing"),
    [
        ("When was Kubernetes adopted?", "Kubernetes"),
        ("What is the retention of clickhouse_events?", "clickhouse_events"),
        ("쿠버네티스는 언제 도입했나?", "쿠버네티스는"),
    ],
)
def test_a_question_that_nothing_answers_gets_its_missing_words(knowing: Agent, query: str, missing: str) -> None:
    """C-190, B023: the right answer is that nobody knows; with a model, nearest neighbours are no answer."""
    knowing.note(AUTH, "decision", title="Auth")
    for text in ("Deploys happen on Tuesday.", "The API listens on port 8080.", "Logs are kept for 30 days."):
        knowing.note(text)
    pack = knowing.do("recall", query=query)
    assert any(missing in gap for gap in pack["gaps"]), pack
    assert pack["claims"] == [] or pack["gaps"][0].startswith("No sure answer"), pack


def test_half_of_an_answer_names_the_other_half(knowing: Agent) -> None:
    """C-190: what is known is told, what is not is a gap."""
    knowing.note("Staging runs on Hetzner.", "state", title="Staging")
    pack = knowing.do("recall", query="Does staging run on Hetzner or on Scaleway?")
    assert [claim["note"] for claim in pack["claims"]] == ["staging"]
    assert [gap for gap in pack["gaps"] if "Scaleway" in gap]


def test_a_known_answer_has_no_gaps(knowing: Agent) -> None:
    knowing.note(AUTH, "decision", title="Auth")
    pack = knowing.do("recall", query="why did we choose session cookies?")
    assert [claim["note"] for claim in pack["claims"]] == ["auth"]
    assert pack["gaps"] == []


# --------------------------------------------------------------------------------------------------- who says so
def test_provenance_tells_persons_from_agents(agent: Agent) -> None:
    """C-75: also when a person has confirmed the agent's words."""
    agent.note("Herons are grey.", title="Grey")
    agent.as_(**vars_of(agent)).note("Herons are tall.", title="Tall")
    agent.person_verifies("grey")
    who = {c["note"]: c["provenance"] for c in agent.claims("herons")}
    assert (who["grey"]["author_kind"], who["grey"]["author"], who["grey"]["state"]) == (
        "agent",
        "claude-code",
        "verified",
    )
    assert (who["tall"]["author_kind"], who["tall"]["author"]) == ("human", "Ada")


def vars_of(agent: Agent) -> dict[str, object]:
    """The owner at the command line."""
    owner = agent.house.owner
    return {"person": owner.person, "agent": owner.agent, "human": True, "mode": "admin", "connection": "local"}


def test_verified_text_ranks_first_where_marks_are_read(agent: Agent) -> None:
    """C-145, C-73: verified above accepted above unverified; with the setting off, all weigh the same and no mark
    shows, but `stale` keeps its effect."""
    for name in ("one", "two", "three"):
        agent.note(f"Herons of lake {name} nest early.", title=name)
        agent.house.clock.advance(DAY)
    agent.do("verify", ref="one", state="verified")
    agent.do("verify", ref="three", state="unverified")
    agent.set("verification", "on")
    assert [c["note"] for c in agent.claims("herons nest early")] == ["one", "two", "three"]
    agent.set("verification", "off")
    off = agent.claims("herons nest early")
    assert [c["note"] for c in off] == ["three", "two", "one"]
    assert [c["provenance"].get("state") for c in off] == [None, None, None]
    agent.do("verify", ref="two", state="stale")
    states = {c["note"]: c["provenance"].get("state") for c in agent.claims("herons nest early")}
    assert states == {"one": None, "two": "stale", "three": None}
    assert "state" not in agent.read("one")["blocks"][0]
