"""read, browse, remember, edit, verify, link: the document's rules, one by one, on both engines."""

from __future__ import annotations

import pytest

from dolmen.domain.errors import DolmenError
from tests.interfaces.kmem.conftest import Agent

AUTH = """# Auth decision

## Session handling

- [decision] We chose session cookies over JWT, because revocation is simpler. #auth

## Rules

Keys rotate monthly.
"""


def policy(answer: dict[str, object]) -> tuple[object, object, object]:
    """What every answer to a write carries (C-142)."""
    assert isinstance(answer["because"], str)
    assert answer["because"].endswith(".")
    return answer["outcome"], answer["write_policy"], answer["agent_writes"]


# ------------------------------------------------------------------------------------------------------------- remember
def test_remember_creates_a_note_and_says_what_became_of_it(agent: Agent) -> None:
    """C-96, C-97, C-108, C-142."""
    made = agent.do("remember", content=AUTH, kind="decision", folder="backend")
    assert policy(made) == ("created", "conflicts", "on")
    assert made["ref"] == "kmem://backend/auth-decision"
    assert made["permalink"] == "backend/auth-decision"
    assert len(made["content_sha"]) == 64


def test_a_taken_address_gets_a_number_and_the_answer_names_the_append(agent: Agent) -> None:
    """C-97, C-99: nothing is overwritten; absent when the address was free."""
    assert "address_in_use" not in agent.do("remember", content="From Friday.", kind="state", title="Deploy freeze")
    second = agent.do("remember", content="Until Monday.", kind="state", title="Deploy freeze")
    assert (second["outcome"], second["permalink"]) == ("created", "deploy-freeze-2")
    assert second["address_in_use"] == {
        "ref": "kmem://deploy-freeze",
        "title": "Deploy freeze",
        "suggestion": "A note already exists at kmem://deploy-freeze, so this one is addressed deploy-freeze-2 "
        "instead. To add to the existing note rather than keep two, call edit with ref kmem://deploy-freeze and op "
        "append.",
    }


def test_an_exact_address_is_kept_and_refused_when_another_note_has_it(agent: Agent) -> None:
    """C-98."""
    assert agent.note("One.", permalink="team/rules") == "team/rules"
    assert agent.refused("remember", content="Two.", kind="note", permalink="team/rules")["code"] == "conflict"


def test_links_are_kept_before_their_target_and_attach_when_it_is_written(agent: Agent) -> None:
    """C-107, C-247."""
    agent.note("We use cookies.", "decision", title="Auth", links=["backend/session-store"])
    [claim] = [c for c in agent.claims("we use cookies") if c["text"] == "We use cookies."]
    assert claim["related"] == []
    agent.note("Sessions live in Redis.", title="Session store", folder="backend")
    [claim] = [c for c in agent.claims("we use cookies") if c["text"] == "We use cookies."]
    assert claim["related"] == ["kmem://backend/session-store"]


def test_a_note_that_replaces_a_live_one_waits_and_then_supersedes_every_claim(agent: Agent) -> None:
    """C-141, C-96, C-132, C-177."""
    old = agent.note("Storage is Postgres.\n\nBackups run nightly.", "decision", title="Storage")
    queued = agent.do("remember", content="Storage is SQLite.", kind="decision", title="New storage", supersedes=old)
    assert policy(queued) == ("queued", "conflicts", "on")
    assert queued["because"] == "It takes the place of a live note."
    assert {c["note"] for c in agent.claims("storage")} == {old}, "what waits is in no answer (C-143)"
    agent.approve(queued["proposal"])
    assert {c["note"] for c in agent.claims("storage backups")} == {"new-storage"}
    found = agent.claims("storage", include_superseded=True)
    assert {c["note"]: c["status"] for c in found} == {"new-storage": "current", old: "superseded"}


def test_what_is_missing_or_too_much_is_refused_with_a_fix(agent: Agent) -> None:
    """C-108, C-239, C-300."""
    assert agent.refused("remember", content="x")["code"] == "invalid-argument"
    assert agent.refused("remember", content="x", kind="opinion")["code"] == "invalid-argument"
    assert agent.refused("remember", content="x" * 1_000_001, kind="note")["code"] == "too-large"
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    assert agent.refused("remember", content=f"The token is {secret}", kind="note")["code"] == "secret-detected"
    assert agent.refused("remember", content="x", kind="note", ref="a")["code"] == "invalid-argument"
    missing = agent.refused("remember", content="x", kind="note", supersedes="nowhere")
    assert missing["code"] == "note-not-found"


# ----------------------------------------------------------------------------------------------------------------- read
@pytest.mark.parametrize("form", ["{}", "kmem://{}", "sp://{}", "dolmen://{}"])
def test_a_note_is_read_by_every_form_of_its_address(agent: Agent, form: str) -> None:
    """C-233, C-236: the words once, all 64 digits of the sha, and blocks without their words."""
    permalink = agent.note(AUTH, "decision", folder="backend")
    note = agent.read(form.format(permalink))
    assert note["ref"] == "kmem://backend/auth-decision"
    assert note["markdown"].endswith(AUTH)
    assert len(note["content_sha"]) == 64
    assert [set(block) for block in note["blocks"]] == [{"ref", "kind", "state"}] * 2
    assert [block["kind"] for block in note["blocks"]] == ["decision", "decision"]


def test_a_section_is_its_heading_and_all_below_whatever_the_case(agent: Agent) -> None:
    """C-235."""
    permalink = agent.note(AUTH, "decision")
    section = agent.read(permalink, section="  session   HANDLING ")
    assert section["markdown"].startswith("## Session handling\n")
    assert "Keys rotate" not in section["markdown"]
    assert len(section["blocks"]) == 1
    assert agent.refused("read", ref=permalink, section="Nowhere")["code"] == "not-found"


def test_a_block_is_its_words_its_author_and_its_state(agent: Agent) -> None:
    """C-235, C-75."""
    permalink = agent.note(AUTH, "decision")
    block = agent.read(agent.block(permalink, "Keys rotate"))
    assert block["text"] == "Keys rotate monthly."
    assert block["note"] == permalink
    assert block["provenance"]["author_kind"] == "agent"
    assert block["provenance"]["author"] == "claude-code"
    assert block["provenance"]["state"] == "accepted"


def test_a_note_that_is_not_there_is_said_so_by_kmems_code(agent: Agent) -> None:
    """C-102: and edit names remember as the repair."""
    for tool, args in (
        ("read", {"ref": "backend/runbook"}),
        ("edit", {"ref": "backend/runbook", "op": "append", "content": "x"}),
        ("link", {"from": "backend/runbook", "rel_type": "blocks", "to": "x"}),
    ):
        error = agent.refused(tool, **args)
        assert error["code"] == "note-not-found"
        assert error["message"] == "No live note exists at backend/runbook."
        assert "remember" in error["fix"]


def test_a_statement_of_another_toolset_is_read_and_marked_by_its_ref(agent: Agent) -> None:
    ref = agent.house.stored("Herons nest early.", agent.actor)
    [claim] = agent.claims("herons")
    assert claim["ref"] == f"kmem://memory/{ref}"
    assert agent.read(claim["ref"])["text"] == "Herons nest early."
    assert agent.do("verify", ref=claim["ref"], state="stale")["marked"] == 1


# --------------------------------------------------------------------------------------------------------------- browse
def test_browse_shows_folders_and_titles_and_never_text(agent: Agent) -> None:
    """C-237, C-47."""
    agent.note("Deep words.", title="Deep", folder="a/b/c")
    agent.note("Top words.", title="Top")
    agent.note("Words of a.", title="In a", folder="a")
    top = agent.do("browse")
    assert top["folders"] == [{"path": "a", "notes": 2}]
    assert [note["ref"] for note in top["notes"]] == ["kmem://top"]
    assert set(top["notes"][0]) == {"ref", "title", "kind", "updated"}
    below = agent.do("browse", path="a", depth=2)
    assert [folder["path"] for folder in below["folders"]] == ["a/b", "a/b/c"]
    assert [note["ref"] for note in below["notes"]] == ["kmem://a/in-a"]


def test_browse_lists_what_changed_newest_first(agent: Agent) -> None:
    """C-237."""
    agent.note("One.", title="First")
    agent.house.clock.advance(3 * 86_400_000_000)
    agent.note("Two.", title="Second")
    agent.note("Three.", title="Third")
    day = agent.do("browse")["notes"][-1]["updated"]
    found = agent.do("browse", changed_since=day)
    assert [note["ref"] for note in found["notes"]] == ["kmem://third", "kmem://second"]
    assert found["folders"] == []
    assert agent.refused("browse", changed_since="soonish")["code"] == "invalid-time"


def test_browse_lists_what_this_connection_queued(agent: Agent) -> None:
    """C-143, C-109: and withdraw takes it back."""
    modest = agent.as_(mode="suggest", connection="key-2")
    made = modest.do("remember", content="Herons nest.", kind="note")
    assert policy(made) == ("queued", "conflicts", "on")
    assert made["because"] == "This connection may only propose."
    [waiting] = modest.do("browse", queued=True)["queued"]
    assert waiting["id"] == made["proposal"]
    assert waiting["id"].startswith("prop_")
    assert agent.do("browse", queued=True) == {"queued": []}
    assert waiting["because"] == made["because"], "in the words of the answer that queued it"
    foreign = agent.refused("edit", ref=waiting["id"], op="withdraw")
    assert (foreign["code"], waiting["id"] in foreign["message"]) == ("not-found", True), "only its own"
    assert "queued: true" in foreign["fix"]
    assert policy(modest.do("edit", ref=waiting["id"], op="withdraw")) == ("withdrawn", "conflicts", "on")
    assert modest.do("browse", queued=True) == {"queued": []}
    again = modest.refused("edit", ref=waiting["id"], op="withdraw")
    assert (again["code"], again["message"]) == ("conflict", f"The proposal {waiting['id']} was already withdrawn.")
    assert agent.do("browse")["notes"] == []


# ----------------------------------------------------------------------------------------------------------------- edit
def test_each_operation_does_what_the_document_says(agent: Agent) -> None:
    """C-100, C-101."""
    ref = agent.note("# Runbook\n\nCall Ada.\n", title="Runbook")
    done = agent.do("edit", ref=ref, op="append", content="- [note] Keys rotate monthly #ops")
    assert policy(done) == ("updated", "conflicts", "on")
    assert done["content_sha"] == agent.read(ref)["content_sha"]
    agent.do("edit", ref=ref, op="prepend", content="Read this first.")
    agent.do("edit", ref=ref, op="set_property", key="owner", value="ankur")
    agent.do("edit", ref=agent.block(ref, "Call Ada"), op="replace_block", content="Call Grace.")
    assert agent.read(ref)["markdown"] == (
        "---\nowner: ankur\n---\nRead this first.\n\n# Runbook\n\nCall Grace.\n\n- [note] Keys rotate monthly #ops\n"
    )
    agent.do("edit", ref=agent.block(ref, "Call Grace"), op="replace_block", content="")
    agent.do("edit", ref=ref, op="set_property", key="owner")
    assert agent.read(ref)["markdown"] == "Read this first.\n\n# Runbook\n\n\n- [note] Keys rotate monthly #ops\n"
    sha = agent.read(ref)["content_sha"]
    whole = agent.do("edit", ref=ref, op="replace_note", content="All new.\n", expected_sha=sha)
    assert policy(whole) == ("updated", "conflicts", "on")
    assert agent.read(ref)["markdown"] == "All new.\n"


def test_replacing_one_block_keeps_every_other_blocks_address(agent: Agent) -> None:
    """C-234, C-101."""
    ref = agent.note("One stays.\n\nTwo goes.\n\nThree stays.\n", title="Blocks")
    one, two, three = [block["ref"] for block in agent.read(ref)["blocks"]]
    agent.do("edit", ref=two, op="replace_block", content="Two has come.")
    after = [block["ref"] for block in agent.read(ref)["blocks"]]
    assert (after[0], after[2]) == (one, three)
    assert after[1] != two


@pytest.mark.parametrize(
    ("op", "field", "value", "readers"),
    [
        ("append", "key", "owner", "set_property"),
        ("set_property", "content", "x", "append, prepend, replace_block, replace_note"),
        ("delete_note", "value", "x", "set_property"),
        ("withdraw", "expected_sha", "0" * 64, "append, prepend, replace_block, replace_note, set_property"),
    ],
)
def test_a_field_that_the_operation_does_not_read_is_refused(
    agent: Agent, op: str, field: str, value: str, readers: str
) -> None:
    """C-102."""
    ref = agent.note("Words.", title="Here")
    error = agent.refused("edit", ref=ref, op=op, **{field: value})
    assert error["message"] == f"{op} does not read {field}."
    assert readers in error["fix"]


@pytest.mark.parametrize(
    ("op", "args"), [("append", {}), ("replace_block", {"content": "x"}), ("set_property", {}), ("delete_note", {})]
)
def test_a_field_that_the_operation_needs_is_asked_for(agent: Agent, op: str, args: dict[str, str]) -> None:
    """C-100."""
    ref = agent.note("Words.", title="Here")
    assert agent.refused("edit", ref=ref, op=op, **args)["code"] == "invalid-argument"


def test_a_stale_edit_waits_and_tells_that_the_note_moved_on(agent: Agent) -> None:
    """C-119: never overwritten, never refused; a person sees that it does not fit any more."""
    ref = agent.note("Version one.\n", title="Shared")
    sha = agent.read(ref)["content_sha"]
    agent.do("edit", ref=agent.block(ref, "Version one"), op="replace_block", content="By somebody else.")
    queued = agent.do("edit", ref=ref, op="replace_note", content="Version two.\n", expected_sha=sha)
    assert policy(queued) == ("queued", "conflicts", "on")
    assert queued["because"] == "The note moved on since the version that this write names."
    assert "By somebody else." in agent.read(ref)["markdown"]
    [waiting] = agent.do("browse", queued=True)["queued"]
    assert waiting["stale"] is True
    assert agent.read(ref)["queued"] == [waiting["id"]]
    with pytest.raises(DolmenError) as caught:
        agent.approve(waiting["id"])
    assert caught.value.code == "conflict"
    agent.approve(waiting["id"], force=True)
    assert agent.read(ref)["markdown"] == "Version two.\n"


def test_a_stale_edit_of_other_blocks_is_put_together_with_what_changed_since(agent: Agent) -> None:
    """C-119: nobody's words are lost; a person still decides."""
    ref = agent.note("---\nowner: ada\n---\n# Shared\n\nOne.\n\nTwo.\n\nThree.\n", title="Shared")
    read = agent.read(ref)
    agent.do("edit", ref=agent.block(ref, "Two."), op="replace_block", content="Two, by somebody else.")
    agent.do("edit", ref=ref, op="append", content="Four, by somebody else.")
    mine = read["markdown"].replace("One.", "One, by me.")
    queued = agent.do("edit", ref=ref, op="replace_note", content=mine, expected_sha=read["content_sha"])
    assert queued["outcome"] == "queued"
    [waiting] = agent.do("browse", queued=True)["queued"]
    assert "stale" not in waiting
    agent.approve(queued["proposal"])
    assert agent.read(ref)["markdown"] == (
        "---\nowner: ada\n---\n# Shared\n\nOne, by me.\n\nTwo, by somebody else.\n\nThree.\n\nFour, by somebody else.\n"
    )


def test_a_whole_note_replaced_blindly_waits(agent: Agent) -> None:
    """C-119, C-141: what is appended or set by name is worked out from the version at hand and does not."""
    ref = agent.note("Version one.\n", title="Shared")
    queued = agent.do("edit", ref=ref, op="replace_note", content="Version two.\n")
    assert policy(queued) == ("queued", "conflicts", "on")
    assert queued["because"] == "It replaces a whole note without naming the version that was read."
    agent.approve(queued["proposal"])
    assert agent.read(ref)["markdown"] == "Version two.\n"


def test_a_deletion_waits_and_leaves_its_reason_forever(agent: Agent) -> None:
    """C-100, C-133, C-141."""
    ref = agent.note("Old words.", title="Old")
    queued = agent.do("edit", ref=ref, op="delete_note", reason="superseded by the wiki")
    assert policy(queued) == ("queued", "conflicts", "on")
    assert agent.read(ref)["markdown"]
    agent.approve(queued["proposal"])
    error = agent.refused("read", ref=ref)
    assert error["code"] == "note-not-found"
    assert "superseded by the wiki" in error["message"]


def test_a_session_retracts_what_it_wrote_until_somebody_relies_on_it(agent: Agent) -> None:
    """C-100, C-133: in write mode at once; nobody else's, and nothing that carries a trust decision."""
    ref = agent.note("A guess.", title="Guess")
    other = agent.as_(connection="key-9")
    assert other.refused("edit", ref=ref, op="retract", reason="not mine")["code"] == "forbidden"
    assert policy(agent.do("edit", ref=ref, op="retract", reason="wrong")) == ("retracted", "conflicts", "on")
    kept = agent.note("Known.", title="Known")
    agent.person_verifies(kept)
    assert agent.refused("edit", ref=kept, op="retract", reason="wrong")["code"] == "conflict"


# --------------------------------------------------------------------------------------------------- the vault's policy
@pytest.mark.parametrize(
    ("setting", "value", "mode", "outcomes"),
    [
        ("write_policy", "conflicts", "write", ["created", "updated", "queued", "marked", "linked"]),
        ("write_policy", "direct", "write", ["created", "updated", "deleted", "marked", "linked"]),
        ("write_policy", "review", "write", ["queued"] * 5),
        ("agent_writes", "off", "write", ["queued"] * 5),
        ("agent_writes", "on", "suggest", ["queued"] * 5),
    ],
)
def test_the_setting_counts_from_the_next_call_on(
    agent: Agent, setting: str, value: str, mode: str, outcomes: list[str]
) -> None:
    """C-139 to C-142: every answer says what happened, why, and under which policy."""
    for name in ("here", "gone"):
        agent.note(f"Words {name}.", title=name)
    agent.set(setting, value)
    writer = agent.as_(mode=mode)
    answers = [
        writer.do("remember", content="New words.", kind="note"),
        writer.do("edit", ref="here", op="append", content="More."),
        writer.do("edit", ref="gone", op="delete_note", reason="over"),
        writer.do("verify", ref="here", state="verified"),
        writer.do("link", **{"from": "here", "rel_type": "blocks", "to": "elsewhere"}),
    ]
    assert [answer["outcome"] for answer in answers] == outcomes
    shown = {"write_policy": "conflicts", "agent_writes": "on"} | {setting: value}
    for answer in answers:
        assert {name: answer[name] for name in shown} == shown
        assert ("proposal" in answer) == (answer["outcome"] == "queued")
    agent.set("write_policy", "conflicts")
    agent.set("agent_writes", "on")
    assert agent.do("remember", content="Later words.", kind="note")["outcome"] == "created"


def test_what_changes_what_agents_prefer_waits_under_every_policy(agent: Agent) -> None:
    """C-136."""
    agent.set("write_policy", "direct")
    done = agent.do("remember", content="- [preference] Answer in English.", kind="note")
    assert (done["outcome"], done["because"]) == (
        "queued",
        "Preferences steer agents, so a person decides about them.",
    )


@pytest.mark.parametrize("op", ["delete_note", "retract"])
def test_a_note_is_not_removed_by_the_ref_of_one_of_its_blocks(agent: Agent, op: str) -> None:
    """C-101: whoever means one block does not lose the note."""
    ref = agent.note("A one.\n\nB one.", title="One")
    agent.set("write_policy", "direct")
    for part in (agent.block(ref, "A one"), f"{ref}#blk_0000", f"{ref}#Head"):
        error = agent.refused("edit", ref=part, op=op, reason="Out.")
        assert (error["code"], "replace_block" in error["fix"]) == ("invalid-argument", True)
    assert len(agent.read(ref)["blocks"]) == 2


@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("append", {"content": "More."}),
        ("prepend", {"content": "More."}),
        ("replace_note", {"content": "New."}),
        ("set_property", {"key": "owner", "value": "ankur"}),
    ],
)
def test_a_part_of_a_note_does_not_stand_for_the_whole_of_it(agent: Agent, op: str, args: dict[str, str]) -> None:
    """C-101: whoever names a block and means a change there learns which op does that."""
    ref = agent.note("A one.\n\nB one.", title="One")
    before = agent.read(ref)["content_sha"]
    for part in (agent.block(ref, "A one"), f"{ref}#^block", f"{ref}#Head"):
        error = agent.refused("edit", ref=part, op=op, expected_sha=before, **args)
        assert error["message"] == f"{op} takes a whole note, and the ref names a part of one."
        assert "kmem://one;" in error["fix"]
        assert "replace_block" in error["fix"]
    assert agent.read(ref)["content_sha"] == before
    assert agent.do("browse", queued=True) == {"queued": []}


# --------------------------------------------------------------------------------------------------------------- verify
def test_verify_marks_a_block_a_note_or_many_and_no_byte_of_them(agent: Agent) -> None:
    """C-144."""
    one = agent.note("A one.\n\nB one.", title="One")
    two = agent.note("A two.", title="Two")
    before = [agent.read(ref)["content_sha"] for ref in (one, two)]
    assert agent.do("verify", ref=agent.block(one, "A one"), state="verified", note="seen")["marked"] == 1
    assert agent.do("verify", ref=one, state="stale")["marked"] == 2
    done = agent.do("verify", refs=[one, f"kmem://{two}"], state="unverified")
    assert (done["marked"], done["outcome"]) == (3, "marked")
    assert [agent.read(ref)["content_sha"] for ref in (one, two)] == before
    assert {block["state"] for block in agent.read(one)["blocks"]} == {"unverified"}


def test_verify_takes_one_or_many_and_a_state_of_four(agent: Agent) -> None:
    """C-144: ref or refs, never both."""
    ref = agent.note("Words.", title="Here")
    assert "never both" in agent.refused("verify", ref=ref, refs=[ref], state="stale")["message"]
    assert agent.refused("verify", state="stale")["code"] == "invalid-argument"
    assert agent.refused("verify", ref=ref, state="rejected")["code"] == "invalid-argument"


@pytest.mark.parametrize("part", ["#blk_12345678", "#blk_1234567", "#blk_8bcbdac3x", "#Head"])
def test_a_part_that_is_not_there_never_stands_for_the_whole_note(agent: Agent, part: str) -> None:
    """C-144: a mistyped address of a claim marks nothing."""
    ref = agent.note("# Head\n\nA one.\n\nB one.", title="One")
    assert agent.refused("verify", ref=ref + part, state="verified")["code"].endswith("not-found")
    assert agent.refused("read", ref=ref + part)["code"].endswith("not-found")
    assert {block["state"] for block in agent.read(ref)["blocks"]} == {"accepted"}


def test_a_superseded_claim_leaves_the_answers_and_comes_back(agent: Agent) -> None:
    """C-144, C-145."""
    ref = agent.note("Herons nest early.", title="Herons")
    agent.do("verify", ref=ref, state="superseded")
    assert agent.claims("herons") == []
    assert [c["status"] for c in agent.claims("herons", include_superseded=True)] == ["superseded"]
    agent.do("verify", ref=ref, state="unverified")
    assert [c["provenance"]["state"] for c in agent.claims("herons")] == ["unverified"]
