"""Long texts become passages that an embedding window holds, and nothing of them is left out (B177)."""

from hypothesis import given
from hypothesis import strategies as st

from dolmen.domain.text import passages

LATIN = "The deploy job reads its settings once at start, so a changed value needs a restart. "
KOREAN = "배포 작업은 시작할 때 설정을 한 번만 읽으므로 값을 바꾸면 다시 시작해야 한다. "


def pieces(text: str, **options: int) -> list[str]:
    return [text[start:end] for start, end in passages(text, **options)]


def test_a_text_under_the_target_is_one_passage() -> None:
    assert passages(LATIN) == [(0, len(LATIN))]
    assert passages("") == []


def test_the_last_line_of_a_long_note_is_in_a_passage_of_its_own_reach() -> None:
    """B177: the key fact in the last line of 2,000 words."""
    text = LATIN * 130 + "\nThe vault password rotates on the first Monday."
    found = pieces(text)
    assert "rotates on the first Monday" in found[-1]
    assert all(len(piece) <= 1200 for piece in found)


def test_wide_scripts_get_half_as_many_characters() -> None:
    found = pieces(KOREAN * 100)
    assert max(map(len, found)) > 400
    # Spaces and full stops of Korean text are narrow, so a passage may hold a few characters more than 600.
    assert all(len(piece) + sum(c >= "가" for c in piece) <= 1200 for piece in found)


def test_cuts_fall_between_sentences() -> None:
    assert all(piece.endswith((". ", ".")) for piece in pieces(LATIN * 40))
    assert all(piece.endswith("다. ") for piece in pieces(KOREAN * 60))
    assert all(piece.endswith("。") for piece in pieces("部署任务只在启动时读取一次设置，所以改值以后要重启。" * 60))


def test_a_passage_begins_at_a_heading_where_one_is_near() -> None:
    section = "## Section\n\n" + LATIN * 8 + "\n\n"
    found = pieces(section * 5)
    assert len(found) == 5
    assert all(piece.startswith("## Section") for piece in found)


def test_a_paragraph_is_kept_whole_where_it_fits() -> None:
    paragraph = LATIN * 5 + "\n\n"
    assert all(len(piece) % len(paragraph) == 0 for piece in pieces(paragraph * 12))


def test_a_code_block_that_fits_is_not_cut() -> None:
    code = "```python\n" + "# a comment, not a heading\nvalue = compute()\n\n" * 15 + "```\n"
    text = LATIN * 8 + "\n" + code + LATIN * 10
    assert len(code) < 1200
    assert any(code.strip() in piece for piece in pieces(text))


def test_a_code_block_longer_than_a_passage_is_cut_between_lines() -> None:
    code = "~~~\n" + "let value = compute(argument)\n" * 200 + "~~~\n"
    found = pieces(code)
    assert len(found) > 4
    assert all(piece.endswith("\n") for piece in found)


def test_an_unclosed_code_block_does_not_swallow_the_text() -> None:
    assert len(pieces("```\n" + LATIN * 100)) > 5


def test_the_limit_bounds_the_passages_and_the_last_end_tells_what_is_left() -> None:
    text = LATIN * 100
    first = passages(text, limit=2)
    assert len(first) == 2
    assert first == passages(text)[:2]
    assert first[-1][1] < len(text)


ANY_TEXT = st.lists(
    st.one_of(
        st.text(max_size=40),
        st.sampled_from(
            ["\n\n", "\n# h\n", "```\n", "~~~\n", ". ", "。", LATIN, KOREAN, "가" * 50, "x" * 90, "🎉" * 9]
        ),
    ),
    max_size=40,
).map("".join)


@given(ANY_TEXT, st.integers(min_value=1, max_value=300))
def test_passages_cover_any_text_in_order_without_gap_or_overlap(text: str, target: int) -> None:
    ranges = passages(text, target=target)
    assert "".join(text[start:end] for start, end in ranges) == text
    assert all(start < end for start, end in ranges)
    assert all(end - start <= target for start, end in ranges)


def test_a_megabyte_is_cut_in_linear_time() -> None:
    """Each hostile shape takes well under a second; a quadratic one would take minutes."""
    shapes = ("a" * 1_000_000, "\n" * 1_000_000, "```\n" * 250_000, "가" * 500_000, "# " * 500_000, ". " * 500_000)
    for text in shapes:
        assert passages(text)[-1][1] == len(text)
