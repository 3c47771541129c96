"""The embedded default: its weights, its tokenizer, and that it means something."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dolmen.models.contract import ModelUnavailable
from dolmen.models.e5 import e5_embedder, installed
from dolmen.models.e5.encoder import E5Encoder
from dolmen.models.e5.tokenizer import WINDOW, Tokenizer
from dolmen.models.e5.weights import WeightsFile

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def weights() -> Path:
    path = installed.find()
    assert path is not None
    return path


@pytest.fixture(scope="module")
def tokenizer(weights: Path) -> Tokenizer:
    return Tokenizer(WeightsFile(weights).vocabulary)


@pytest.fixture(scope="module")
def encoder() -> E5Encoder:
    return E5Encoder.load(threads=1)


# Ids as the reference SentencePiece model of XLM-R gives them.
@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Hello, world!", [0, 35378, 4, 8999, 38, 2]),
        ("query: how much protein", [0, 41, 1294, 12, 3642, 5045, 21308, 2]),
        ("  spaces\tand\nlines  ", [0, 32628, 7, 136, 124519, 2]),
        ("배포는 화요일", [0, 6, 77240, 769, 26191, 5144, 1599, 2]),
        ("ﬁne ０１２", [0, 5885, 3413, 304, 2]),
    ],
)
def test_tokens_are_those_of_the_reference(tokenizer: Tokenizer, text: str, ids: list[int]) -> None:
    assert tokenizer.tokens(text) == ids


def test_a_run_of_unknown_characters_is_one_token(tokenizer: Tokenizer) -> None:
    unknown = tokenizer.tokens("\U00013000\U00013001\U00013002")
    assert unknown == [0, 6, 3, 2]


def test_a_long_text_fills_the_window_and_no_more(tokenizer: Tokenizer) -> None:
    for text in ("word " * 20_000, "x" * 100_000, "가나다" * 30_000):
        ids = tokenizer.tokens(text)
        assert len(ids) <= WINDOW
        assert (ids[0], ids[-1]) == (0, 2)
    assert len(tokenizer.tokens("word " * 20_000)) == WINDOW


def test_the_installed_weights_are_the_published_ones(weights: Path, tmp_path: Path) -> None:
    assert installed.matches_checksum(weights)
    changed = Path(shutil.copy(weights, tmp_path))
    with changed.open("r+b") as file:
        file.seek(60_000_000)
        file.write(b"changed")
    assert not installed.matches_checksum(changed)


def test_another_file_of_that_name_is_refused(tmp_path: Path) -> None:
    impostor = tmp_path / installed.FILE
    impostor.write_bytes(b"short")
    with pytest.raises(ModelUnavailable, match="not the published"):
        WeightsFile(impostor)
    with impostor.open("r+b") as file:
        file.truncate(installed.SIZE)
    with pytest.raises(ModelUnavailable, match="not the published") as caught:
        WeightsFile(impostor)
    assert installed.REQUIREMENT in caught.value.fix


STATEMENTS = [
    "We ship only on Tuesday and Thursday.",
    "릴리스는 화요일과 목요일에만 나간다.",
    "The cache holds 512 rows.",
]


@pytest.mark.parametrize("question", ["On which weekdays are releases allowed?", "배포는 무슨 요일에 하나?"])
def test_a_question_is_nearer_to_its_answer(encoder: E5Encoder, question: str) -> None:
    query, _ = encoder.query(question)
    english, korean, other = encoder.documents(STATEMENTS) @ query
    assert max(english, korean) > other + 0.02
    assert min(english, korean) > other  # the answer in the other language as well


def test_padding_does_not_change_a_vector(encoder: E5Encoder) -> None:
    texts = [f"{'word ' * n}end" for n in range(10, 40)]
    together = encoder.documents(texts)
    alone = np.stack([encoder.documents([text])[0] for text in texts])
    assert (together * alone).sum(1).min() > 0.9999


def test_questions_and_passages_are_told_apart(encoder: E5Encoder) -> None:
    assert float(encoder.query("text")[0] @ encoder.documents(["text"])[0]) < 0.999


@pytest.mark.parametrize(
    "gibberish", ["xxxxxxxxxxxx", "asdfgh qwerty zxcvb", "!!!", "뷁뛟쒧", "blorptang wibble snarf"]
)
def test_gibberish_is_unrelated_to_everything(encoder: E5Encoder, gibberish: str) -> None:
    """B023"""
    query, unrelated = encoder.query(gibberish)
    assert unrelated is not None
    assert (encoder.documents(STATEMENTS) @ query).max() < unrelated


@pytest.mark.parametrize("question", ["On which weekdays are releases allowed?", "배포는 무슨 요일에 하나?"])
def test_an_answer_in_either_language_is_not_unrelated(encoder: E5Encoder, question: str) -> None:
    query, unrelated = encoder.query(question)
    assert unrelated is not None
    assert (encoder.documents(STATEMENTS[:2]) @ query).min() > unrelated


def test_nothing_is_loaded_before_the_first_text() -> None:
    """A light command must answer in 150 ms, so making an embedder imports no numpy."""
    code = (
        "import sys; from dolmen.models.choose import EmbedderSettings, choose; c = choose(EmbedderSettings());"
        "c.describe(); assert not c.embedder.ready;"
        "print(sorted({'numpy', 'onnxruntime', 'httpx2'} & set(sys.modules)))"
    )
    path = Path(__file__).parents[2] / "src"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(path)}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_warming_makes_it_ready_in_the_background() -> None:
    embedder = e5_embedder()
    embedder.warm()
    embedder.warm()
    embedder.embed_query("waits for the load")
    assert embedder.ready
    embedder.close()
    assert not embedder.ready


def test_loading_runs_once_however_many_threads_ask() -> None:
    from concurrent.futures import ThreadPoolExecutor

    from dolmen.models.local import Encoder, LocalEmbedder

    loads: list[int] = []

    def load() -> Encoder:
        loads.append(1)
        return E5Encoder.load(threads=1)

    embedder = LocalEmbedder("m", 384, load)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(embedder.embed_query, [f"q{i}" for i in range(8)]))
    assert loads == [1]
    embedder.close()


def test_a_failed_load_keeps_its_reason() -> None:
    from dolmen.models.local import Encoder, LocalEmbedder

    loads: list[int] = []

    def load() -> Encoder:
        loads.append(1)
        raise OSError("disk error")

    embedder = LocalEmbedder("m", 384, load)
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match="disk error"):
            embedder.embed_query("q")
    assert loads == [1]


@pytest.mark.parametrize(
    "question",
    [
        "asdkjh qwelkj zxcmnb",
        "flurbo gnarp wibble",
        "qwertyuiop",
        "ㅁㄴㅇㄹ ㅋㅌㅊㅍ",
        "ㅋㅋㅋ",
        "뷁뷁",
        "𓀀𓀁",
        "12309871230",
        "?!",
    ],
)
def test_what_says_nothing_is_related_to_nothing(encoder: E5Encoder, question: str) -> None:
    """B023."""
    assert encoder.query(question)[1] == 1.0


@pytest.mark.parametrize(
    "question",
    [
        "when can I release",
        "k8s",
        "retry limit",
        "OPS-4711",
        "Parser::parse_block",
        "배포는 언제 하나요",
        "東京の天気",
        "仓库清单",
    ],
)
def test_what_says_something_may_be_related(encoder: E5Encoder, question: str) -> None:
    unrelated = encoder.query(question)[1]
    assert unrelated is not None
    assert unrelated < 0.95
