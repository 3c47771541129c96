"""The pages speak English and Korean, whatever they say: also what they refuse, wherever it is raised."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

import pytest

from dolmen.interfaces.http.web import pages
from dolmen.interfaces.http.web.language import LANGUAGES, translated, words
from tests.interfaces.http.messages import messages

_REFUSAL = "problem: "
_HANGUL = re.compile("[가-힣]")
_TEMPLATES = sorted(each.name for each in (files("dolmen.interfaces.http.web") / "templates").iterdir())


def blanks(sentence: str) -> list[str]:
    return sorted(re.findall(r"\{(\w+)\}", sentence))


def refusals() -> Iterator[tuple[str, str]]:
    for name, text in words("ko").items():
        if name.startswith(_REFUSAL):
            yield name.removeprefix(_REFUSAL), text


def test_every_refusal_that_a_page_can_show_is_said_in_korean() -> None:
    """From the source: what the pages reach, and what is raised there. Nobody keeps a list of them by hand."""
    found = messages()
    assert len(found) > 70  # what the pages reach is not lost on the way
    known = {re.sub(r"\{\w+\}", "{}", message) for message, _ in refusals()}
    missing = {message: where for message, where in found.items() if message not in known}
    assert missing == {}, "say these in words/ko.json, as `problem: <message>`"
    assert known - set(found) == set(), "nothing says these any more"


def test_a_refusal_is_found_by_what_it_says_with_whatever_is_filled_in() -> None:
    for message, text in refusals():
        filled = re.sub(r"\{\w+\}", "300", message)
        said = translated("ko", filled)
        assert said is not None, message
        assert _HANGUL.search(said), message
        assert "{" not in said, message
        assert set(blanks(text)) <= set(blanks(message)), message
        assert translated("en", filled) is None
    assert translated("ko", "More than 60 requests per minute.") == (
        "1분에 60번이 넘는 요청이 왔습니다. 잠시 뒤에 다시 시도하세요."
    )


def test_both_languages_have_every_sentence_with_the_same_blanks() -> None:
    english, korean = words("en"), words("ko")
    said = {name for name in korean if not name.startswith(_REFUSAL)}
    assert said == set(english)
    assert {name for name in said if blanks(english[name]) != blanks(korean[name])} == set()
    unsaid = {name for name in said if not _HANGUL.search(korean[name]) and korean[name] != english[name]}
    assert unsaid == set()


@pytest.mark.parametrize("name", _TEMPLATES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_pages_say_only_sentences_that_there_are(name: str, language: str) -> None:
    source = pages._read(name)
    for sentence in re.findall(r'say\(\s*"([^"]+)"\s*[,)]', source):
        assert sentence in words(language), sentence
