"""Which files and symbols a text mentions."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolmen.domain.code import KINDS, Mention, may_define, mentions, qualified, recorded, valid_path, valid_symbol
from dolmen.domain.memory import KINDS as EVERY_KIND


def found(text: str) -> list[str]:
    """`path` or `path symbol` of each."""
    return [f"{each.path} {each.symbol}".strip() for each in mentions(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "`RequireKey` in internal/auth/middleware.go hashes the token.",
            ["internal/auth/middleware.go", "internal/auth/middleware.go RequireKey"],
        ),
        (
            "만료된 토큰은 internal/auth/jwt.go에서 ErrTokenExpired로 거절한다.",
            ["internal/auth/jwt.go", "internal/auth/jwt.go ErrTokenExpired"],
        ),
        ("Call `seed_all()` first, see scripts/train.py:12 and web/app.tsx#L10-L20.",
         ["scripts/train.py", "web/app.tsx", "seed_all"]),
        ("Store.dedupe in store.go is used by Handler.serve", ["store.go", "store.go Store.dedupe",
                                                               "store.go Handler.serve"]),
        ("pay() and refund.all() are in ./src/pay.py.", ["src/pay.py", "src/pay.py pay", "src/pay.py refund.all"]),
        ("`CartService` in shop/CartService.java and total() in totals.py", ["shop/CartService.java", "totals.py",
                                                                            "CartService", "total"]),
        ("The `auth` package is documented in auth/jwt.go, not in `jwt.go`", ["auth/jwt.go", "jwt.go"]),
        ("CartService is in CartService.java", ["CartService.java"]),
        ("See .golangci.yml, README.md, Makefile and (app/[id]/page.tsx)!",
         [".golangci.yml", "README.md", "Makefile", "app/[id]/page.tsx"]),
        ("On Windows .\\src\\pay.py, and src\\app\\main.go:7", ["src/pay.py", "src/app/main.go"]),
        ("`Widget::draw` and `Api#fetch` draw", ["Widget::draw", "Api#fetch"]),
    ],
)  # fmt: skip
def test_files_and_symbols_are_found(text: str, expected: list[str]) -> None:
    """C-223: paths with known extensions, symbols in backticks or as calls, with one file also what looks like code."""
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`결제하기` is in src/결제/처리.py and 도우미_2.ts.", ["src/결제/처리.py", "도우미_2.ts"]),
        ("결제처리.py의 `charge` 함수", ["결제처리.py", "결제처리.py charge"]),
        ("src/결제.py:12에서 시작해 문서/가이드.md로 간다.", ["src/결제.py", "문서/가이드.md"]),
        ("src/결제.py와src/b.go에서", ["src/결제.py", "src/b.go"]),
        ("설정은src/auth.go에, 빌드는 Makefile을, 도구는 tools/Dockerfile에", ["src/auth.go", "Makefile",
                                                                           "tools/Dockerfile"]),
        ("결제API.py, `결제API/a.py`", ["결제API.py", "결제API/a.py"]),
        ("src\\결제\\처리.py", ["src/결제/처리.py"]),
        ("modèle/über.py и ядро/поиск.rs", ["modèle/über.py", "ядро/поиск.rs"]),
        ("修改src/认证.go中的`verify`", ["src/认证.go", "src/认证.go verify"]),
        ("`認証.go`と「src/設定.toml」", ["認証.go", "src/設定.toml"]),
        ("请看认证.go中的`verify`", ["verify"]),
        ("app/हिन्दी.py", ["app/हिन्दी.py"]),
        (unicodedata.normalize("NFD", "src/결제.py"), ["src/결제.py"]),
        ("https://example.com/문서/a.py, /home/사용자/a.py, ~/문서/b.md, C:\\사용자\\c.go", []),
        ("세 개.py파일, 문서.pyx", ["개.py"]),
    ],
)  # fmt: skip
def test_file_names_may_be_in_any_script(text: str, expected: list[str]) -> None:
    """C-223: particles, and words that no space keeps apart, are no part of them."""
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Upgraded Next.js and Node.js, socket.io too",
        "https://github.com/acme/api/blob/main/x.go and github.com/acme/api/y.go",
        "/etc/app.conf, ~/notes.md, ../up.py",
        "C:\\work\\shop\\a.go, \\\\host\\share\\b.go, ..\\up.py",
        "pgx v5.7, .env, api.acme.dev, internal/limits, log/slog",
        "utils.seed_everything(42) with seed_everything and RequireKey",
        "`if (x)`, `a`, `return`, `two words`, foo(bar)",
        "pnpm, not npm",
    ],
)
def test_urls_absolute_paths_products_versions_and_plain_words_are_none(text: str) -> None:
    """C-223."""
    assert found(text) == []


def test_with_two_files_only_marked_symbols_count_and_belong_to_neither() -> None:
    text = "`moveIt` went from a/one.go to a/two.go; LeaveThis stays."
    assert found(text) == ["a/one.go", "a/two.go", "moveIt"]


def test_capitals_and_proper_names_are_no_symbols() -> None:
    assert found("RATE_LIMIT_RPM in lib/limit.go goes out with GitHub Actions") == ["lib/limit.go"]


def test_at_most_six_files_and_six_symbols_are_kept() -> None:
    files = " ".join(f"f{n}.go" for n in range(9))
    symbols = " ".join(f"`symbol{n}`" for n in range(9))
    kept = found(f"{files} {symbols}")
    assert kept == [*(f"f{n}.go" for n in range(6)), *(f"symbol{n}" for n in range(6))]


def test_code_is_followed_for_what_tells_about_a_project() -> None:
    """C-223: not for what belongs to no project, and not for events, preferences, notes."""
    assert {kind for kind in EVERY_KIND if recorded(kind, "project:github.com/o/r")} == set(KINDS)
    assert not any(recorded(kind, "user") for kind in EVERY_KIND)
    assert set(EVERY_KIND) - set(KINDS) == {"episode", "preference", "state"}


def test_the_parts_of_a_symbol() -> None:
    assert qualified("a.B::c") == ("a", "B", "c")
    assert qualified("Api#fetch") == ("Api", "fetch")
    assert qualified("run") == ("run",)


@given(st.text())
def test_any_text_has_mentions_that_are_valid(text: str) -> None:
    for each in mentions(text):
        assert each.path == "" or valid_path(each.path)
        assert each.symbol == "" or valid_symbol(each.symbol)
        assert each != Mention("", "")


@given(st.lists(st.sampled_from(["a.py", "b/c.go", "`two_words`", "Foo.bar", "run()", "x", "."]), max_size=30))
def test_each_mention_comes_once(words: list[str]) -> None:
    kept = mentions(" ".join(words))
    assert len(set(kept)) == len(kept) <= 12


@pytest.mark.parametrize(
    ("path", "may"),
    [("a/b.go", True), ("x.PY", True), ("q.sql", True), ("deploy.yaml", False), ("README.md", False),
     ("Makefile", False), ("notes", False), ("my cart.py", True)],
)  # fmt: skip
def test_texts_and_data_define_no_symbols(path: str, may: bool) -> None:
    assert may_define(path) is may
