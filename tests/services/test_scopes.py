"""Projects: their counts, and a renamed one that keeps its memory."""

from __future__ import annotations

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.services import scopes
from tests.services.conftest import House

OLD, NEW = "git@github.com:acme/shop.git", "https://github.com/acme/store"


def test_projects_are_listed_with_what_they_hold(house: House) -> None:
    house.stored("The user likes tea", project="user")
    house.stored("Deploys happen on Tuesday", project=OLD)
    house.stored("The cache lives in Redis", project=OLD)
    house.remember("Prefer tabs", house.actor(mode="suggest"), project=OLD, kind="preference")
    listed = scopes.projects(house.rt, house.owner)
    assert [(each.name, each.memories, each.proposed) for each in listed] == [
        ("user", 1, 0),
        ("github.com/acme/shop", 2, 1),
    ]


def test_a_renamed_project_keeps_its_memory_under_either_name(house: House) -> None:
    """B125: the old identity becomes an alias."""
    ref = house.stored("Deploys happen on Tuesday", project=OLD)
    house.stored("The cache lives in Redis", project=NEW)
    assert scopes.alias(house.rt, house.owner, OLD, NEW) == 1
    for name in (OLD, NEW):
        assert ref in house.refs("when are deploys", project=name)
    late = house.remember("Old clones still write here", project=OLD)
    assert late.scope == "project:github.com/acme/store"
    [shown] = [each for each in scopes.projects(house.rt, house.owner) if each.name != "user"]
    assert (shown.name, shown.memories, shown.aliases) == ("github.com/acme/store", 3, ("github.com/acme/shop",))


def test_a_statement_that_both_projects_hold_is_joined_without_loss(house: House) -> None:
    """B125: the same statement on both sides must not stop the move."""
    house.stored("Deploys happen on Tuesday", project=OLD)
    house.stored("Deploys happen on Tuesday", project=NEW)
    scopes.alias(house.rt, house.owner, OLD, NEW)
    assert len(house.refs("deploys Tuesday", project=NEW)) >= 1


def test_an_alias_needs_two_projects_and_an_owner(house: House) -> None:
    for old, new, code in (
        (OLD, "github.com/acme/shop", "invalid-argument"),
        ("user", NEW, "invalid-argument"),
        (OLD, "/home/ada/shop", "invalid-project"),
    ):
        with pytest.raises(DolmenError) as caught:
            scopes.alias(house.rt, house.owner, old, new)
        assert caught.value.code == code
    with pytest.raises(DolmenError) as caught:
        scopes.alias(house.rt, house.agent, OLD, NEW)
    assert caught.value.code == "forbidden"
    with pytest.raises(DolmenError) as caught:
        scopes.unalias(house.rt, house.agent, OLD)
    assert caught.value.code == "forbidden"


def test_a_name_that_holds_nothing_is_joined_only_on_demand(house: House) -> None:
    """Most likely it is misspelled."""
    with pytest.raises(DolmenError) as caught:
        scopes.alias(house.rt, house.owner, OLD, NEW)
    assert caught.value.code == "not-found"
    assert scopes.alias(house.rt, house.owner, OLD, NEW, force=True) == 0
    assert scopes.alias(house.rt, house.owner, OLD, NEW) == 0, "it is known now"


def test_a_joined_name_can_be_a_project_again(house: House) -> None:
    ref = house.stored("Deploys happen on Tuesday", project=OLD)
    scopes.alias(house.rt, house.owner, OLD, NEW)
    assert scopes.unalias(house.rt, house.owner, OLD) == "github.com/acme/store"
    assert house.refs("when are deploys", project=NEW) == [ref]
    assert house.remember("Old clones write here", project=OLD).scope == "project:github.com/acme/shop"
    with pytest.raises(DolmenError) as caught:
        scopes.unalias(house.rt, house.owner, OLD)
    assert caught.value.code == "not-found"


def test_two_projects_cannot_stand_for_each_other(house: House) -> None:
    scopes.alias(house.rt, house.owner, OLD, NEW, force=True)
    with pytest.raises(DolmenError) as caught:
        scopes.alias(house.rt, house.owner, NEW, OLD)
    assert caught.value.code == "conflict"
