"""Which passwords are tried first."""

from __future__ import annotations

import pytest

from dolmen.domain.guessing import is_expected

OWN = ("ada", "Ada Lovelace")


@pytest.mark.parametrize(
    "password",
    [
        "password123", "Password1!", "passwordpassword", "P@ssw0rd123", "1234567890", "0987654321", "qwertyuiop",
        "qwerty12345", "1q2w3e4r5t", "q1w2e3r4t5", "1qaz2wsx3edc", "iloveyou123", "letmein2026!", "admin-admin-1",
        "dolmen2026!", "aaabbbcccddd", "abcdefghij", "비밀번호123456", "qlalfqjsgh1",
    ],
)  # fmt: skip
def test_what_everybody_tries_is_expected(password: str) -> None:
    """NIST SP 800-63B §3.1.1.2"""
    assert is_expected(password)


@pytest.mark.parametrize("password", ["adalovelace", "Ada1234567", "lovelace1815", "LovelaceAda", "4d4_l0v3l4c3"])
def test_ones_own_name_is_expected_of_oneself_and_of_nobody_else(password: str) -> None:
    assert is_expected(password, OWN)
    assert not is_expected(password.replace("1234567", "4190273"), ("grace", "Grace Hopper"))


@pytest.mark.parametrize(
    "password",
    [
        "four words without sense", "correct horse battery staple", "hello memory love dolmen", "my-secret-garden",
        "x7Kp-92mQa-44", "Tr0ub4dor&3xyz", "나는 오늘 산에 갔다 왔다", "password of my grandmother",
    ],
)  # fmt: skip
def test_a_sentence_of_ones_own_is_not(password: str) -> None:
    assert not is_expected(password, OWN)
