"""Named queries."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from dolmen.store.sql import PARAMETER, Query, chunks, doubling, parse, queries

FILES = sorted(
    (folder, file.name.removesuffix(".sql"))
    for folder in ("queries", "sqlite", "postgres")
    for file in (files("dolmen.store") / folder).iterdir()
    if file.name.endswith(".sql")
)


def test_a_query_is_known_by_its_name_without_comments_and_semicolon() -> None:
    found = parse("f", "-- About.\n\n-- name: a\n-- Does.\nSELECT 1\n-- why\nFROM t;\n\n-- name: b\n-- Too.\nSELECT 2")
    assert found == {"a": Query("f.a", "SELECT 1\nFROM t"), "b": Query("f.b", "SELECT 2")}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("-- name: a\nSELECT 1", "no description"),
        ("-- name: a\n-- A.\nSELECT 1;\n-- name: a\n-- A.\nSELECT 2", "twice"),
        ("SELECT 0;\n-- name: a\n-- A.\nSELECT 1", "before the first"),
    ],
)
def test_a_file_that_is_no_list_of_queries_is_refused(text: str, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        parse("f", text)


@pytest.mark.parametrize(("folder", "file"), FILES)
def test_every_query_of_the_store_has_a_name_and_says_what_it_does(folder: str, file: str) -> None:
    assert queries(file, folder)


@pytest.mark.parametrize(("folder", "file"), [each for each in FILES if each[0] == "queries"])
def test_portable_queries_hold_nothing_that_an_engine_reads_in_its_own_way(folder: str, file: str) -> None:
    for query in queries(file, folder).values():
        for literal in re.findall(r"'[^']*'", query.text):
            assert ":" not in literal, query.name
        assert "%" not in query.text
        assert "?" not in query.text
        assert not re.search(r"\b(AUTOINCREMENT|rowid|ILIKE|jsonb?|true|false)\b", query.text), query.name


def test_lists_become_as_many_parameters_rounded_up_so_that_few_statements_arise() -> None:
    query = Query("q", "SELECT 1 WHERE a IN (:ids...) AND b = :b")
    filled, params = query.spread(ids=["x", "y", "z"])
    assert filled.text == "SELECT 1 WHERE a IN (:ids_0,:ids_1,:ids_2,:ids_3) AND b = :b"
    assert params == {"ids_0": "x", "ids_1": "y", "ids_2": "z", "ids_3": "z"}
    assert query.spread(ids=["x"])[0].text == "SELECT 1 WHERE a IN (:ids_0) AND b = :b"


def test_pieces_fill_their_places() -> None:
    assert Query("q", "SELECT {a} FROM {b} {a}").fill(a="x", b="y").text == "SELECT x FROM y x"


def test_parameters_are_told_from_casts() -> None:
    assert PARAMETER.findall("SELECT :a, b::text, :c_1 FROM t WHERE x=:d") == ["a", "c_1", "d"]


def test_values_come_in_runs() -> None:
    assert chunks(["a", "b", "c"], 2) == [["a", "b"], ["c"]]
    assert list(doubling([1, 2, 3, 4, 5, 6], 2)) == [[1, 2], [3, 4, 5, 6]]
    assert list(doubling([], 2)) == []
