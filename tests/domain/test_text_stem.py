"""Which English words meet under one stem, and which must not."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolmen.domain.text import stem as module
from dolmen.domain.text.stem import stem

TOGETHER = """
cache caches cached caching
code codes coded coding
policy policies
configure configures configured configuring configuration configurations
authenticate authenticates authenticated authentication
migrate migrating migration migrations
deploy deploys deployed deploying deployment deployments
implement implements implemented implementing implementation
install installs installed installing installation
control controls controlled controlling controller
schedule schedules scheduled scheduler
use uses used using
valid validate validated validation
available availability
possible possibly
write writes writing wrote written
choose chooses choosing chose chosen
become becomes becoming became
delete deletes deleted deletion
create creates created creating creation
run runs running ran
apply applies applied applying
add adds added adding
agree agrees agreed
require requires required requirement
try tries tried trying
size sizes sized sizing
set sets setting settings
cancel cancels cancelled canceled cancelling
fix fixes fixed fixing
index indexes indices indexed indexing
query queries queried querying
go goes going went gone
box boxes
process processes processed processing
"""
APART = """
note not
state station status
use user
news new
string str
code cod
business busy
need ned
bring br
mode mod
general generate
"""


@pytest.mark.parametrize("line", TOGETHER.split("\n")[1:-1])
def test_forms_of_one_word_share_a_stem(line: str) -> None:
    assert len({stem(word) for word in line.split()}) == 1


@pytest.mark.parametrize("line", APART.split("\n")[1:-1])
def test_different_words_keep_different_stems(line: str) -> None:
    words = line.split()
    assert len({stem(word) for word in words}) == len(words)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=20))
def test_a_stem_is_never_empty_and_never_longer_by_more_than_a_letter(word: str) -> None:
    assert 0 < len(stem(word)) <= len(word) + 3


@given(st.text(max_size=20).filter(lambda word: not (word.isascii() and word.isalpha())))
def test_words_that_are_not_ascii_letters_stay_whole(word: str) -> None:
    assert stem(word) == word


def test_the_docstring_tells_the_truth() -> None:
    assert doctest.testmod(module).failed == 0
