"""Copies are recognised, and nothing else is: what is hidden behind another statement must add nothing to it."""

from __future__ import annotations

import pytest

from dolmen.domain.competing import says_not
from dolmen.domain.statements import adds_nothing, other_value, statement


@pytest.mark.parametrize(
    ("one", "to"),
    [
        ("We rotate the signing keys every ninety days.", "we rotate signing keys every ninety days"),
        ("The staging database is on host db-7.", "The staging database lives on host db-7."),
        ("Note: CI runs on every push!", "CI runs on every push"),
        ("Deploys go out on Fridays", "All deploys go out on Fridays."),
        ("팀은 점검표를 위키에 보관한다", "팀이 점검표를 위키에 보관한다."),
        ("仓库清单在 NAS 上", "仓库清单在 NAS 上。"),
    ],
)
def test_a_copy_adds_nothing(one: str, to: str) -> None:
    assert adds_nothing(statement(one), statement(to))


@pytest.mark.parametrize(
    ("one", "to"),
    [
        ("The rate limit is 100 per minute per key.", "The rate limit is 100 per minute."),  # says more
        ("The rate limit is 100 per minute.", "The rate limit is 250 per minute."),
        ("The flag is on.", "The flag is off."),
        ("Run the backup before the migration.", "Run the backup after the migration."),
        ("Alice manages Bob.", "Bob manages Alice."),
        ("Deploys do not go out on Fridays.", "Deploys go out on Fridays."),
        ("Never force-push to main.", "Force-push to main."),
        ("The room is red.", "The room is blue."),
        ("Herons nest.", "Herons nest in the reed by the northern lake in May."),  # says too little to be a copy
        ("김철수는 배포를 맡는다", "이영희는 배포를 맡는다"),
        ("支持退款", "不支持退款"),
        ("x " * 300 + "red", "x " * 300 + "red blue"),
        ("", "anything"),
    ],
)
def test_what_says_something_else_is_no_copy(one: str, to: str) -> None:
    assert not adds_nothing(statement(one), statement(to))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The queue is RabbitMQ.", "The queue is NATS."),
        ("Billing uses Postgres.", "Billing uses MySQL."),
        ("default_branch = main", "default_branch = trunk"),
        ("큐는 RabbitMQ를 쓴다", "큐는 NATS를 쓴다"),
    ],
)
def test_the_same_of_the_same_thing_is_another_value(one: str, other: str) -> None:
    assert other_value(statement(one), statement(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The billing queue is NATS.", "The search queue is NATS."),
        ("Use tabs in Go.", "Use tabs in Python."),
        ("Alpha is deployed by Jenkins.", "Beta is deployed by Argo."),
        ("The queue is NATS.", "The queue is NATS."),
        ("The queue is NATS.", "The queue is a cluster of NATS."),
        ("Herons nest in May.", "Herons leave in May."),
    ],
)
def test_another_subject_is_no_other_value(one: str, other: str) -> None:
    assert not other_value(statement(one), statement(other))


@pytest.mark.parametrize(
    ("text", "denies"),
    [
        ("Do NOT restart the queue.", True),
        ("We Don't log bodies.", True),
        ("The cache is Disabled.", True),
        ("Use the pool instead of threads.", True),
        ("캐시를 쓰지 않는다", True),
        ("DO NOT 지우기", True),
        ("不要重启", True),
        ("Another node knows the notes.", False),
        ("캐시를 쓴다", False),
    ],
)
def test_a_denial_is_heard_in_any_case_and_script(text: str, denies: bool) -> None:
    assert says_not(text) is denies
