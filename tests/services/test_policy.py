"""The vault's write policy: kept per vault, read on every request, on both engines."""

from __future__ import annotations

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.services.accounts import create_key
from dolmen.services.policy import VaultPolicy, by_conflicts, by_versions, policy_of, set_policy, under_policy
from tests.services.conftest import House


def test_a_new_vault_lets_agents_write_and_queues_conflicts(house: House) -> None:
    """C-140, C-48: a self-hosted vault starts with agent writes on."""
    assert policy_of(house.rt, house.agent) == VaultPolicy(True, True, "conflicts")


def test_a_setting_holds_for_its_vault_alone_from_the_next_request_on(house: House) -> None:
    """C-140."""
    set_policy(house.rt, house.owner, "agent_writes", "off")
    set_policy(house.rt, house.owner, "write_policy", "direct")
    assert policy_of(house.rt, house.agent) == VaultPolicy(False, True, "direct")
    assert policy_of(house.rt, house.actor(vault="other")) == VaultPolicy()
    set_policy(house.rt, house.owner, "agent_writes", "on")
    assert policy_of(house.rt, house.agent).agent_writes


def test_only_a_person_sets_it_and_only_to_what_it_can_be(house: House) -> None:
    admin = house.actor(mode="admin")
    for actor, name, value, code in (
        (house.agent, "agent_writes", "off", "forbidden"),
        (admin, "agent_writes", "off", "forbidden"),
        (house.owner, "agent_writes", "maybe", "invalid-argument"),
        (house.owner, "colour", "on", "invalid-argument"),
    ):
        with pytest.raises(DolmenError) as caught:
            set_policy(house.rt, actor, name, value)
        assert caught.value.code == code
        assert caught.value.fix


def test_every_agent_only_proposes_while_agent_writes_are_off(house: House) -> None:
    """C-140: whatever its mode, at every door; a person writes on."""
    set_policy(house.rt, house.owner, "agent_writes", "off")
    for reading in (by_versions, by_conflicts):
        for mode in ("write", "admin"):
            agent = under_policy(house.rt, house.actor(mode=mode), reading)
            done = house.remember(f"Herons nest at {mode} {reading.__name__}.", agent)
            assert (done.outcome, done.because) == ("proposed", "agent-writes-off")
    assert under_policy(house.rt, house.owner, by_versions) is house.owner
    assert house.remember("Herons are grey.", house.owner).outcome == "stored"


def test_the_policy_review_holds_at_every_door_and_the_others_at_kmems(house: House) -> None:
    """What agents of the other toolsets may do does not change with `conflicts` and `direct`."""
    for policy, outcome in (("conflicts", "stored"), ("direct", "stored"), ("review", "proposed")):
        set_policy(house.rt, house.owner, "write_policy", policy)
        agent = under_policy(house.rt, house.agent, by_versions)
        assert house.remember(f"Herons like {policy}.", agent).outcome == outcome


def test_no_key_in_mode_write_is_made_while_agent_writes_are_off(house: House) -> None:
    """C-140: `403 agent-writes-off`; others are made, and the old ones hold and propose."""
    set_policy(house.rt, house.owner, "agent_writes", "off")
    with pytest.raises(DolmenError) as caught:
        create_key(house.rt, house.owner, agent="codex", mode="write")
    assert caught.value.code == "forbidden"
    assert "suggest" in caught.value.fix
    assert create_key(house.rt, house.owner, agent="codex", mode="suggest")[0].mode == "suggest"
    set_policy(house.rt, house.owner, "agent_writes", "on")
    assert create_key(house.rt, house.owner, agent="codex", mode="write")[0].mode == "write"
