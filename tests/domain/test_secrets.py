"""Credentials are found by kind, redacted whole, and nothing else is touched (C-300, B181).

The values are made up here from parts, so that no scanner takes this file for a leak.
"""

import random
import string
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolmen.domain.secrets import KINDS, find, redact

ALNUM = string.ascii_letters + string.digits


def made_up(length: int, alphabet: str = ALNUM, seed: int = 7) -> str:
    """The same random-looking text every time."""
    return "".join(random.Random(seed).choices(alphabet, k=length))


JWT = f"eyJ{made_up(20)}.eyJ{made_up(60, seed=2)}.{made_up(43, seed=3)}"
PEM = "-----BEGIN {0}PRIVATE KEY-----\n{1}\n{2}\n-----END {0}PRIVATE KEY-----"

SECRETS = [
    ("private key", PEM.format("RSA ", made_up(64), made_up(40, seed=2))),
    ("private key", PEM.format("", made_up(64), made_up(40, seed=2)).replace("\n", "\\n")),
    ("private key", PEM.format("OPENSSH ", made_up(64), made_up(40, seed=2))),
    ("AWS access key", "AKIA" + made_up(16, string.ascii_uppercase + string.digits)),
    ("AWS access key", "ASIA" + made_up(16, string.ascii_uppercase + string.digits)),
    ("GitHub token", "ghp_" + made_up(36)),
    ("GitHub token", "ghs_" + made_up(36)),
    ("GitHub token", "github_pat_" + made_up(82)),
    ("GitLab token", "glpat-" + made_up(20)),
    ("Anthropic key", "sk-ant-api03-" + made_up(93)),
    ("OpenAI key", "sk-" + made_up(48)),
    ("OpenAI key", "sk-proj-" + made_up(120)),
    ("Slack token", "xoxb-" + made_up(12, string.digits) + "-" + made_up(24)),
    ("Slack token", "xapp-1-" + made_up(40)),
    ("Slack webhook", "https://hooks.slack.com/services/T" + made_up(8) + "/B" + made_up(8) + "/" + made_up(24)),
    ("Stripe key", "sk_live_" + made_up(24)),
    ("Stripe key", "rk_test_" + made_up(24)),
    ("Google key", "AIza" + made_up(35)),
    ("Google key", "GOCSPX-" + made_up(28)),
    ("npm token", "npm_" + made_up(36)),
    ("PyPI token", "pypi-AgE" + made_up(100)),
    ("Hugging Face token", "hf_" + made_up(34)),
    ("Groq key", "gsk_" + made_up(52)),
    ("SendGrid key", "SG." + made_up(22) + "." + made_up(43)),
    ("DigitalOcean token", "dop_v1_" + made_up(64, "0123456789abcdef")),
    ("Dolmen key", "dlm_" + made_up(32)),
    ("Dolmen key", "dlm_" + made_up(43, ALNUM + "_-")),
    ("JSON Web Token", JWT),
]
NAMED = [
    ("password in a URL", "postgres://app:{}@db.internal/app", made_up(10)),
    ("password in a URL", "redis://:{}@cache:6379/0", made_up(10)),
    ("password in a URL", "postgres://app:{}@db.internal/app", f"{made_up(9)}Test{made_up(9, seed=2)}"),
    ("Authorization header", "Authorization: Bearer {}", made_up(40)),
    ("Authorization header", '"authorization": "Basic {}"', made_up(40)),
    ("secret in a named field", "password = {}", made_up(24)),
    ("secret in a named field", "DB_PASSWORD={}", made_up(24)),
    ("secret in a named field", 'export API_KEY="{}"', made_up(24)),
    ("secret in a named field", '{{"client_secret": "{}"}}', made_up(24)),
    ("secret in a named field", "--token {}", made_up(24)),
    ("secret in a named field", "The API key is {} for now", made_up(24)),
    ("secret in a named field", "secret := `{}`", made_up(24)),
    ("secret in a named field", "<password>{}</password>", made_up(24)),
    ("secret in a named field", "비밀번호: {}", made_up(24)),
    ("secret in a named field", "密码：{}", made_up(24)),
    ("secret in a named field", "https://files.example.com/s/7Qx?pwd={}", made_up(24)),
    ("secret in a named field", "https://zoom.us/j/91437143016 pwd={}", made_up(24)),
]

PLAIN = [
    "The password reset flow sends a token by e-mail; the secret is stored hashed.",
    "key AKIAIOSFODNN7EXAMPLE from the documentation",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "token: ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "password = changeme",
    "password: <your-password>",
    "API_KEY=${API_KEY}",
    "api_key: {{ vault.api_key }}",
    "token = os.environ['DOLMEN_TOKEN_V2_Prod']",
    "secret: ********************",
    "postgres://app:app@localhost/app",
    "http://user:pass@localhost",
    "postgres://app:your-secret-password@db/app and postgres://app:changeme2024@db/app",
    "postgres://app:${DB_PASSWORD_V2_Prod9x}@db/app and postgres://app:<your-Password-1234>@db/app",
    "https://github.com/org/repo",
    "git@github.com:org/repo.git",
    "[Meeting](https://zoom.us/j/91437143016?pwd=pUErbBMFOiIAN3ZE9gpPR6skpHYeuo.1), an invitation",
    "https://us02web.zoom.us/j/93387714284?pwd=NHNpT2xtOGtwNnVQZ1JXdkNlQ1RMQT09",
    "token 8f14e45fceea167a5a36dedd4bea2543 is a digest",
    "token 0199a3c2-7b1e-7c55-9d7e-0123456789ab is an id",
    "Authorization: Bearer <token>",
    "Authorization: Bearer YOUR_TOKEN_HERE_1234",
    "sk-learn-compatible-estimators-024",
    "task-management-for-2026-roadmap",
    "A key begins -----BEGIN PRIVATE KEY----- and ends with its counterpart.",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "the key dlm_ prefix",
    "access key rotation happens quarterly; credentials live in the vault",
    "암호는 볼트에 보관하고 토큰은 매주 바꾼다",
    "tokenizer=cl100k_base_v2_fast_Tokenizer",
    "这是消息和响应的最大 token 数。当剪藏较长的网页时，你很容易超过此限制。Ollama 会静默失败并返回不相关的结果。",
    "最大 token 數量。擷取較長的網頁時，你很容易超過此限制。Ollama 會靜默失敗",
]


@pytest.mark.parametrize(("kind", "value"), SECRETS)
def test_a_token_format_is_found_exactly_where_it_stands(kind: str, value: str) -> None:
    before, after = "Deploy with ", " and tell nobody."
    assert find(before + value + after) == [(kind, len(before), len(before) + len(value))]
    assert redact(before + value + after) == (f"{before}[redacted {kind}]{after}", [kind])


@pytest.mark.parametrize(("kind", "frame", "value"), NAMED)
def test_a_value_is_found_by_what_it_is_given_to(kind: str, frame: str, value: str) -> None:
    text = frame.format(value)
    assert [(f.kind, text[f.start : f.end]) for f in find(text)] == [(kind, value)]


@pytest.mark.parametrize("text", PLAIN)
def test_prose_placeholders_and_documentation_examples_are_kept(text: str) -> None:
    """B181"""
    assert redact(text) == (text, [])


def test_every_kind_is_shown_by_an_example() -> None:
    assert {kind for kind, *_ in [*SECRETS, *NAMED]} == set(KINDS)


def test_a_key_that_was_cut_off_is_redacted_to_its_last_line() -> None:
    """B181: a transcript often ends in the middle."""
    text = f"-----BEGIN RSA PRIVATE KEY-----\n{made_up(64)}\n{made_up(64, seed=2)}\n\nThen we went on with the deploy."
    redacted, kinds = redact(text)
    assert kinds == ["private key"]
    assert redacted == "[redacted private key]\n\nThen we went on with the deploy."


def test_several_secrets_are_reported_once_per_kind_and_in_place() -> None:
    text = f"a={SECRETS[5][1]} b={SECRETS[6][1]} c={JWT}"
    redacted, kinds = redact(text)
    assert redacted == "a=[redacted GitHub token] b=[redacted GitHub token] c=[redacted JSON Web Token]"
    assert kinds == ["GitHub token", "JSON Web Token"]


def test_the_more_specific_kind_names_a_secret_that_two_rules_match() -> None:
    text = f"Authorization: Bearer {SECRETS[5][1]}"
    assert [f.kind for f in find(text)] == ["GitHub token"]


def test_a_long_value_is_redacted_to_its_end() -> None:
    value = made_up(900)
    assert redact(f"token={value}") == ("token=[redacted secret in a named field]", ["secret in a named field"])


SNIPPETS = st.one_of(
    st.text(alphabet=st.characters(), max_size=30),
    st.sampled_from([value for _, value in SECRETS]),
    st.sampled_from([frame.format(value) for _, frame, value in NAMED]),
    st.sampled_from(["password=", "token ", "Authorization: Bearer ", "://", ":", "@", "-----BEGIN PRIVATE KEY-----"]),
    st.text(alphabet=ALNUM + "-_./+=", min_size=8, max_size=50),
)


@given(st.lists(SNIPPETS, max_size=8).map("".join))
def test_nothing_is_found_in_a_redacted_text(text: str) -> None:
    redacted, kinds = redact(text)
    assert find(redacted) == []
    assert set(kinds) <= set(KINDS)
    assert (redacted == text) == (kinds == [])


@given(st.lists(SNIPPETS, max_size=8).map(" ".join))
def test_findings_are_in_order_and_never_overlap(text: str) -> None:
    findings = find(text)
    assert all(0 <= f.start < f.end <= len(text) for f in findings)
    assert all(one.end <= two.start for one, two in pairwise(findings))


HOSTILE = {
    "headers of keys": "-----BEGIN PRIVATE KEY-----" * 40_000,
    "a key without end": "-----BEGIN PRIVATE KEY-----\n" + "A" * 1_000_000,
    "keys without end": ("-----BEGIN PRIVATE KEY-----\n" + "Ab1" * 30 + "\n") * 8_000,
    "dashes": "-" * 1_000_000,
    "starts of web tokens": "eyJ-" * 250_000,
    "halves of web tokens": ("eyJ-" * 90 + ".eyJ" + "a" * 600) * 1_000,
    "names": "password " * 110_000,
    "names without spaces": "secrettokenpassword" * 50_000,
    "separators": "password=" * 110_000,
    "spaces after names": ("token" + " " * 50) * 18_000,
    "starts of addresses": "://a:" * 200_000,
    "at signs": "://" + "a:" * 300_000 + "@",
    "starts of keys": "sk-" * 330_000,
    "many secrets": (SECRETS[5][1] + " ") * 20_000,
    "one long value": "token=" + made_up(1_000_000),
}


@pytest.mark.parametrize("shape", HOSTILE)
def test_hostile_texts_take_linear_time(shape: str) -> None:
    """A megabyte takes well under a second or two; one quadratic step would take minutes."""
    started = time.process_time()
    redact(HOSTILE[shape])
    assert time.process_time() - started < 15
