"""Any text, in any locale of the database."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import psycopg
import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.text import analyze, clean
from dolmen.store.postgres.engine import PostgresStore
from dolmen.store.postgres.words import lexemes
from tests.contract.given import Clock, Desk
from tests.postgres import Server
from tests.postgres_engine.conftest import Open


@pytest.mark.parametrize("text", ["log tail: \0\0 done", "half \ud83d a pair", "\udc00"])
def test_what_no_database_can_hold_is_replaced_at_the_door_or_refused_before_it_is_sent(desk: Desk, text: str) -> None:
    """B040: the same rule on both engines, before the database sees the text."""
    cleaned, replaced = clean(text)
    assert replaced
    memory = desk.add(cleaned)
    with desk.store.read() as tx:
        assert tx.memories.get("v", memory.id) == memory
    with pytest.raises(DolmenError) as refused:
        desk.add(text)
    assert refused.value.code == "invalid-argument"
    assert desk.ids(desk.sight()) == [memory.id]


def test_a_number_beyond_64_bits_is_refused_with_a_word_about_it(desk: Desk) -> None:
    with pytest.raises(DolmenError) as refused:
        desk.add("one", expires_at=2**70)
    assert refused.value.code == "invalid-argument"


@pytest.fixture(params=["C", "C.UTF-8"])
def desk_in_locale(request: pytest.FixtureRequest, postgres: Server, open_at: Open, clock: Clock) -> Iterator[Desk]:
    """A database whose locale knows nothing of letters beyond ASCII, and one whose locale does."""
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE {name} OWNER dolmen TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER libc"
            f" LOCALE '{request.param}'".encode()
        )
    store = open_at(postgres.url(name))
    with store.write() as tx:
        tx.accounts.add_vault("v", "Ada's", "o", "Ada")
    yield Desk(store, clock)
    store.close()
    postgres.drop_database(postgres.url(name))


def test_chinese_korean_japanese_and_accented_words_are_found_in_any_locale(desk_in_locale: Desk) -> None:
    """B042."""
    desk = desk_in_locale
    stored = {
        "退款审批流程 nginx": ["退款审批", "审批", "nginx"],
        "배포는 금요일에 하지 않는다": ["배포", "금요일"],
        "認証サーバーの設定": ["認証", "サーバー"],
        "Der Schlüssel heißt MÉTHODE": ["schlüssel", "méthode"],
    }
    for text, questions in stored.items():
        memory = desk.add(text)
        for question in questions:
            assert desk.found(desk.sight(), question) == [memory.id], question


def test_texts_sort_by_their_bytes_as_on_the_embedded_engine(desk_in_locale: Desk) -> None:
    desk = desk_in_locale
    for scope in ("project:b", "project:B", "project:_", "project:é"):
        desk.add("one", scope=scope)
    with desk.store.read() as tx:
        streamed = [memory.scope for memory in tx.memories.stream("v")]
        assert sorted(streamed) == tx.scopes.names("v")
    desk.add("two", folder="a/b")
    desk.add("three", folder="a!b")
    desk.add("four", folder="a")
    assert len(desk.ids(desk.sight(folder="a"))) == 2


ODD_TOKENS = ["it's", "a\\b", "\\'", "a:*", "a & b", "!a", "s1:x", "(", "", "x" * 64, "한글", "\U0001f980"]


@pytest.mark.parametrize("token", ODD_TOKENS)
def test_a_lexeme_is_the_token_itself_whatever_it_looks_like(store: PostgresStore, token: str) -> None:
    with store.read() as tx:
        connection = tx.index._session.connection  # type: ignore[attr-defined]  # of PostgresIndex
        found = connection.execute(
            "SELECT array_to_tsvector(ARRAY[$1]) @@ $2::tsquery, numnode($2::tsquery)",
            ["s1:" + token, lexemes(["s1:"], token)],
        ).fetchone()
    assert found == (True, 1)


def test_a_token_of_the_longest_kind_fits_into_the_index(desk: Desk) -> None:
    word = "é" * 4000
    memory = desk.add(f"{word} " + " ".join(f"word{n}" for n in range(3000)))
    assert desk.found(desk.sight(), word) == [memory.id]
    assert len(analyze(word, query=True)[0].encode()) <= 64
