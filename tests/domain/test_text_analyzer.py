"""One analyzer for both engines: any text gives legal tokens, and what people write is found again."""

import re
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolmen.domain.text import MAX_TOKEN_BYTES, TOKEN_MARKS, analyze, weight

LEGAL = re.compile(r"[=@~]?[a-z0-9_\u0080-\U0010ffff]+\Z")


def found(query: str, text: str) -> bool:
    """Whether every token of the query is among the text's."""
    wanted = analyze(query, query=True)
    return bool(wanted) and set(wanted) <= set(analyze(text))


def touched(query: str, text: str) -> bool:
    """Whether some token of the query that is no mere function word is among the text's."""
    return any(weight(token) >= 0.4 for token in set(analyze(query, query=True)) & set(analyze(text)))


def assert_legal(tokens: list[str]) -> None:
    for token in tokens:
        assert LEGAL.match(token), token
        assert not any(c.isspace() for c in token), token
        assert len(token.encode("utf-8")) <= MAX_TOKEN_BYTES, token


# -------------------------------------------------------------------------------------------- any text, any query


@given(st.text(alphabet=st.characters(), max_size=200), st.booleans(), st.booleans())
def test_any_text_gives_legal_tokens(text: str, query: bool, trigrams: bool) -> None:
    assert_legal(analyze(text, query=query, trigrams=trigrams))


@pytest.mark.slow
def test_every_code_point_gives_legal_tokens() -> None:
    """Alone and between letters, NUL and lone surrogates included."""
    for first in range(0, 0x110000, 64):
        characters = [chr(code) for code in range(first, first + 64)]
        assert_legal(analyze(" ".join(characters)))
        assert_legal(analyze("x".join(characters)))


@given(st.text(max_size=100))
def test_a_text_finds_itself(text: str) -> None:
    assert set(analyze(text, query=True)) <= set(analyze(text))


@given(st.text(max_size=100))
def test_query_tokens_come_once_each(text: str) -> None:
    tokens = analyze(text, query=True, trigrams=True)
    assert len(tokens) == len(set(tokens))


@given(st.text(max_size=100))
def test_composed_and_decomposed_texts_have_the_same_tokens(text: str) -> None:
    """B030: a query typed in NFD finds a text stored in NFC."""
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert analyze(composed) == analyze(decomposed)


@given(st.text(max_size=60))
def test_every_token_has_a_positive_weight(text: str) -> None:
    assert all(0 < weight(token) <= 2 for token in analyze(text, trigrams=True))


@pytest.mark.parametrize("text", ["", "   ", "…", "()[]{}", '"""', "* * *", "\x00", "\ud800", "-- ; '"])
def test_a_text_without_words_has_no_tokens(text: str) -> None:
    assert analyze(text, query=True) == []


@pytest.mark.parametrize("operator", ["AND", "OR", "NOT", "NEAR"])
def test_query_operators_are_plain_words(operator: str) -> None:
    """B004: query text is data."""
    assert analyze(f'"{operator}" {operator}: {operator}*', query=True) == [operator.lower()]


# -------------------------------------------------------------------------------------------------- identifiers


def test_a_path_is_found_whole_and_by_its_parts() -> None:
    """B001"""
    text = "The call notes are in Exports/meeting-logs since May."
    for query in ("Exports/meeting-logs", "exports", "meeting-logs", "meeting logs", '"Exports/meeting-logs"'):
        assert found(query, text), query
    assert "@exports_meeting_logs" in analyze(text)


def test_a_hyphenated_word_beside_an_operator_is_found() -> None:
    """B004"""
    assert found("phase2-check AND unicode", "Run phase2-check and the unicode suite")
    assert "@phase2_check" in analyze("phase2-check AND unicode", query=True)


def test_a_symbol_with_colons_is_found_whole_and_by_its_parts() -> None:
    """B005"""
    text = "Parser::parse_block drops the last line."
    for query in ("Parser::parse_block", "parse_block", "parse block", "parser"):
        assert found(query, text), query


def test_backslashes_of_a_text_are_separators_of_a_path() -> None:
    """B008"""
    text = "files live in D:\\Work\\Repo\\ ;"
    assert touched("repo location", text)
    assert found("D:\\Work\\Repo", text)


def test_a_hyphenated_project_id_is_found() -> None:
    """B009"""
    assert found("team-alpha", "Scope of team-alpha is search")


@pytest.mark.parametrize(
    "spelling", ["get_user_name", "getUserName", "GetUserName", "get-user-name", "GET_USER_NAME", "get.user.name"]
)
def test_spellings_of_one_identifier_find_each_other_whole(spelling: str) -> None:
    assert "@get_user_name" in analyze(spelling)
    assert found("user name", spelling)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("HTTPServer2", "@http_server2 http server2 server httpserver2"),
        ("src/auth/tokenStore.py", "@src_auth_token_store_py @token_store_py @token_store auth token store py"),
        ("Foo::Bar.parse_block()", "@foo_bar_parse_block @bar_parse_block @parse_block"),
        ("v1.2.3", "@v1_2_3 @1_2_3"),
        ("Python 3.11", "@3_11 3 11"),
        ("ABC-123", "@abc_123 abc 123"),
        ("someone@example.org", "@someone_example_org @example_org someon exampl"),
        ("https://Example.com/a/b?x=1", "@example_com_a_b @example_com a b"),
        ("ssh://git@host/x", "@git_host_x host"),
        ("C++ and C# and F#", "cpp csharp fsharp c"),
        ("e-mail", "@e_mail email mail"),
        ("utf8", "utf8 utf"),
        ("commit 0499359abcdef0123", "0499359abcdef0123 0499359"),
        ("--no-verify", "@no_verify no verify"),
        ("don't", "dont"),
        ("the user's cache", "user cach"),
    ],
)
def test_identifiers_have_their_documented_tokens(text: str, tokens: str) -> None:
    assert set(tokens.split()) <= set(analyze(text))


def test_the_same_address_with_and_without_scheme_is_one_identifier() -> None:
    assert found("example.com/a/b", "see https://example.com/a/b.")


def test_a_short_commit_hash_finds_the_long_one() -> None:
    assert found("0499359", "Fixed by 0499359abcdef01234567890abcdef0123456789")
    assert touched("0499359abcdef01234567890abcdef0123456789", "Fixed by 0499359")


def test_a_token_that_is_too_long_is_cut_the_same_way_every_time() -> None:
    long = "x" * 300
    (token,) = analyze(long)
    assert token == analyze(long, query=True)[0]
    assert token.startswith("xxxx")
    assert len(token) == MAX_TOKEN_BYTES
    assert analyze("x" * 301) != [token]


# ------------------------------------------------------------------------------------------------------ scripts


@pytest.mark.parametrize(
    "query",
    ["점검표", "팀", unicodedata.normalize("NFD", "점검표"), unicodedata.normalize("NFD", "팀"), "위키", "보관"],
)
def test_korean_words_are_found_with_particles_attached(query: str) -> None:
    """B030: words of one or two syllables, composed or not."""
    assert found(query, "팀은 점검표를 위키에 보관한다")


@pytest.mark.parametrize("query", ["조선", "왕조 기록", "조선 왕조 기록", "왕"])
def test_short_korean_words_are_found(query: str) -> None:
    """B031"""
    assert found(query, "조선 왕조 기록")


@pytest.mark.parametrize("query", ["仓库", "仓库清单", "清单", "depots", "NAS", "仓"])
def test_short_chinese_queries_are_found(query: str) -> None:
    """B034"""
    assert found(query, "仓库清单(depots) … NAS")


@pytest.mark.parametrize("query", ["退款审批", "审批流程", "nginx", "退款审批流程 nginx"])
def test_chinese_beside_latin_is_found(query: str) -> None:
    """B042"""
    assert found(query, "退款审批流程 nginx")


@pytest.mark.parametrize("query", ["サーバ", "サーバー", "本番", "ｻｰﾊﾞｰ", "再起動"])
def test_japanese_is_found_in_full_and_half_width(query: str) -> None:
    assert found(query, "本番のサーバーは毎週月曜に再起動する")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("งาน", "สรุป release งานวันนี้"),
        ("ประชุม", "บันทึกการประชุม"),
        ("ຂ່າວ", "ອ່ານຂ່າວມື້ນີ້"),
        ("ជំនួប", "ការណាត់ជំនួបថ្ងៃនេះ"),
        ("အစည်းအဝေး", "ယနေ့အစည်းအဝေးမှတ်တမ်း"),
    ],
)
def test_scripts_without_spaces_are_found_inside_a_run(query: str, text: str) -> None:
    """B044: Thai, Lao, Khmer, Myanmar."""
    assert found(query, text)


SYLLABLES = st.text(alphabet=st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), min_size=1, max_size=6)


@given(SYLLABLES, st.sampled_from(["", "은", "는", "이", "가", "을", "를", "에서", "으로", "까지"]), SYLLABLES)
def test_any_korean_word_is_found_with_any_particle(word: str, particle: str, other: str) -> None:
    """B030 B031: for every word, not for the examples alone."""
    assert found(word, f"{other} {word}{particle} {other}")


HAN = st.text(alphabet=st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=1, max_size=8)


@given(HAN, HAN, HAN)
def test_any_chinese_substring_is_found(before: str, word: str, after: str) -> None:
    """B034 B042"""
    assert found(word, before + word + after)


def test_a_particle_on_a_latin_word_is_not_looked_for() -> None:
    assert analyze("API에서는", query=True) == ["api"]
    assert analyze("3월에", query=True) == ["3", "월에"]
    assert "는" in analyze("는", query=True)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("metodo", "## Información – método"),
        ("método", "el metodo nuevo"),
        ("informacion", "## Información – método"),
        ("naive", "a naïve cache"),
        ("STRASSE", "Straße 5"),
        ("Lodz", "office in Łódź"),
        ("елка", "Ёлка"),
        ("ελληνικα", "Ελληνικά"),
        ("كتب", "كَتَبَ"),
        ("résumé", unicodedata.normalize("NFD", "résumé")),
        ("Ｄｏｌｍｅｎ", "dolmen"),
        ("ﬁle", "file"),
    ],
)
def test_accents_and_forms_of_letters_do_not_hide_a_word(query: str, text: str) -> None:
    """B046"""
    assert touched(query, text)


def test_an_accented_word_also_has_its_exact_form() -> None:
    assert analyze("método") == ["metodo", "=método"]


def test_marks_that_make_another_word_are_kept() -> None:
    """B044: й is not и, and an Indic vowel belongs to its consonant."""
    assert not touched("май", "маи")
    assert analyze("हिन्दी") == ["हिन्दी"]
    assert not touched("की", "का")


def test_emoji_and_symbols_are_found() -> None:
    assert found("🎉", "배포 완료 ★ 🎉")
    assert found("★", "배포 완료 ★ 🎉")
    assert analyze("👩‍🚀") == ["👩", "🚀"]


def test_invisible_characters_do_not_divide_a_word() -> None:
    assert found("settings", "set\u00adtings")
    assert found("settings", "\ufeffset\u200btings")


# ----------------------------------------------------------------------------------------------- stems, classes


def test_inflected_forms_find_each_other_and_the_exact_form_counts_more() -> None:
    assert touched("cached", "the caching layer")
    assert analyze("caching") == ["cach", "=caching"]
    assert analyze("cache") == ["cach"]


def test_trigrams_come_only_when_asked_for() -> None:
    assert analyze("store") == ["store"]
    assert analyze("store", trigrams=True) == ["store", "~sto", "~tor", "~ore"]


def test_weights_order_the_classes() -> None:
    identifier, word, exact, ending, common, trigram = map(weight, ["@a_b", "cach", "=caching", "한다", "the", "~sto"])
    assert identifier > word > exact > ending > common > trigram > 0
    assert weight("점검") == weight("仓库") == weight("🎉") == word
    assert weight("です") == ending


def test_every_mark_is_one_that_the_engines_are_told_about() -> None:
    tokens = analyze("getUserName caching método", trigrams=True)
    marks = {c for token in tokens for c in token if c.isascii() and not c.isalnum()}
    assert marks == set(TOKEN_MARKS)


# --------------------------------------------------------------------------------------------------------- cost

HOSTILE = {
    "combining marks": "a" + "\u0300\u0316" * 250_000,
    "marks of other blocks": "\u0f40" + "\u0f71\u0f72" * 250_000,
    "musical marks": "\U0001d165\U0001d16d" * 150_000,
    "one word": "aB3" * 160_000,
    "a scheme at the end": "a" * 400_000 + "://",
    "dots": "a." * 250_000,
    "apostrophes": "a'" * 250_000,
    "ligatures": "\ufdfa" * 30_000,
    "hyphens": "-" * 500_000,
    "jamo": "\u1100\u1161" * 250_000,
}


@pytest.mark.parametrize("shape", HOSTILE)
def test_hostile_texts_take_linear_time(shape: str) -> None:
    """Half a million characters take about half a second; one quadratic step would take minutes."""
    started = time.process_time()
    analyze(HOSTILE[shape])
    assert time.process_time() - started < 10
