"""What a vault says about the writes of agents: read on every request, set by a person (C-140, C-145)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dolmen.domain.access import require
from dolmen.domain.errors import DolmenError
from dolmen.domain.values import WRITE_POLICIES, Actor, WritePolicy, Writing

if TYPE_CHECKING:
    from dolmen.services.runtime import Runtime
    from dolmen.store.contract import Tx

_PREFIX = "policy."
ON, OFF = "on", "off"


@dataclass(frozen=True, slots=True)
class VaultPolicy:
    """The vault's own settings, each at what a self-hosted vault starts with."""

    agent_writes: bool = True
    """Off: every agent only proposes (C-140)."""
    verification: bool = True
    """On: verified text ranks above accepted above unverified. Off: nobody reads these marks; `stale` and `superseded`
    keep their effect (C-145)."""
    write_policy: WritePolicy = "conflicts"
    """Which writes of a connection in mode `write` wait, where notes are written by this policy."""

    def shown(self) -> dict[str, str]:
        """Each setting as a person writes it."""
        return {
            "agent_writes": ON if self.agent_writes else OFF,
            "verification": ON if self.verification else OFF,
            "write_policy": self.write_policy,
        }


CHOICES: Mapping[str, tuple[str, ...]] = {
    "agent_writes": (ON, OFF),
    "verification": (ON, OFF),
    "write_policy": WRITE_POLICIES,
}
HELP: Mapping[str, str] = {
    "agent_writes": "Whether agents may write directly; off, every one of them only proposes.",
    "verification": "Whether verified text ranks above accepted text above unverified text in answers of kmem's tools.",
    "write_policy": "What waits for you. conflicts: deletions, replaced notes, edits of another version than the "
    "current one, through kmem's tools. review: everything that an agent writes. direct: only what would overwrite "
    "what its writer did not see.",
}


def policy_in(tx: Tx, vault: str) -> VaultPolicy:
    """The settings as they stand in this transaction."""
    said = {name: tx.accounts.setting(vault, _PREFIX + name) for name in CHOICES}
    policy = next((each for each in WRITE_POLICIES if each == said["write_policy"]), VaultPolicy().write_policy)
    return VaultPolicy(said["agent_writes"] != OFF, said["verification"] != OFF, policy)


def policy_of(rt: Runtime, actor: Actor) -> VaultPolicy:
    """The settings of the actor's vault, as they are now."""
    with rt.store.read() as tx:
        return policy_in(tx, actor.vault)


def by_versions(policy: VaultPolicy) -> Writing:
    """How a door reads the policy whose agents are told to read again when somebody was faster."""
    return Writing(policy.agent_writes, "review" if policy.write_policy == "review" else "direct", "refuse")


def by_conflicts(policy: VaultPolicy) -> Writing:
    """How kmem's door reads it: what meets another version than its writer saw waits for a person (C-119, C-141)."""
    return Writing(policy.agent_writes, policy.write_policy, "queue")


def by_mirror(policy: VaultPolicy) -> Writing:
    """How a mirror with a key for kmem's tools reads it: by the same policy, but a write that meets another version is
    refused, since a mirror puts both together first."""
    return Writing(policy.agent_writes, policy.write_policy, "refuse")


Reading = Callable[[VaultPolicy], Writing]
"""How one door reads the policy."""


def under_policy(rt: Runtime, actor: Actor, reading: Reading) -> Actor:
    """The actor, whose writes now go by what the vault says at this moment, and its own connection where that has a
    policy of its own. That agent writes are off stands above both."""
    if actor.human:
        return actor
    policy = policy_of(rt, actor)
    if actor.policy is not None:
        policy = replace(policy, write_policy=actor.policy)
    return replace(actor, writing=reading(policy))


def set_policy(rt: Runtime, actor: Actor, name: str, value: str) -> VaultPolicy:
    """Changes one setting of the vault; it counts from the next request on.

    Raises:
        DolmenError: `forbidden` for an agent; `invalid-argument` for an unknown name or value.
    """
    from dolmen.services.recording import audit

    require(actor, "admin")
    if not actor.human:
        raise DolmenError("forbidden", "Only a person changes the policy.", "Leave it to the owner: `dolmen settings`.")
    if name not in CHOICES:
        raise DolmenError("invalid-argument", f"There is no setting {name!r}.", f"Use one of {', '.join(CHOICES)}.")
    if value not in CHOICES[name]:
        raise DolmenError("invalid-argument", f"{name} cannot be {value!r}.", f"Use one of {', '.join(CHOICES[name])}.")
    with rt.store.write() as tx:
        tx.accounts.set(actor.vault, _PREFIX + name, value)
        audit(tx, actor, "policy:set", f"{name}={value}")
        return policy_in(tx, actor.vault)
