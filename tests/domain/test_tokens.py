"""The estimate keeps budget promises: hardly ever under the true cl100k count, and not far over it.

`bpe_openai` counts truly and needs no network; only the tests use it.
"""

import argparse
import inspect
import json
import random
import time
import urllib.parse
import uuid
import warnings
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolmen.domain.tokens import estimate

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # it opens its vocabulary with a deprecated function
    import bpe_openai

    CL100K = bpe_openai.get_encoding("cl100k_base")
CHANCE = random.Random(11)

ENGLISH = """
We decided to keep the retry limit at three, because the payment provider blocks an address after five failed calls in
a minute. The worker reads its settings once at start, so a changed value needs a restart of the deployment. Marta found
out that the nightly backup had been skipping the attachments folder since the storage migration; it now copies both
buckets and compares the number of objects. Please write the summary of every incident in plain words, put the timeline
first, and link the pull request that fixed it. Yesterday the search page felt slow: the index on created_at was missing
in production although the migration listed it. The customer asked whether archived projects count against the quota,
and the answer is no. For local work use the small dataset, since loading the full one takes about twenty minutes on a
laptop. Nobody should edit generated files by hand; change the template and run the generator again.
"""
KOREAN = """
배포는 화요일과 목요일에만 하고 금요일에는 하지 않는다. 결제 서비스가 실패하면 세 번까지만 다시 시도하고 그 뒤에는
담당자에게 알린다. 작업자는 시작할 때 설정을 한 번만 읽으므로 값을 바꾸면 다시 시작해야 한다. 어젯밤 백업이 첨부
파일 폴더를 건너뛰고 있었다는 것을 발견해서 두 저장소를 모두 복사하도록 고쳤다. 검색 화면이 느렸던 이유는 운영
데이터베이스에 색인이 없었기 때문이다. 회의록은 위키에 보관하고, 결정한 내용과 이유를 함께 적는다. 사용자 정보를
로그에 남기지 말고, 오류 메시지에는 요청 번호만 넣는다. 테스트는 병합 전에 모두 통과해야 하며, 실패한 테스트를
건너뛰는 것은 허용하지 않는다.
"""
JAPANESE = """
デプロイは火曜日と木曜日だけに行い、金曜日には行わない。決済サービスが失敗したときは三回まで再試行し、その後は担当者に通知する。
ワーカーは起動時に設定を一度だけ読み込むので、値を変更したら再起動が必要です。昨夜のバックアップが添付ファイルのフォルダーを
飛ばしていたことが分かったため、両方のバケットをコピーするように修正しました。検索画面が遅かった原因は、本番データベースに
インデックスがなかったことです。議事録はウィキに保存し、決定した内容と理由を一緒に書いてください。
"""
CHINESE = """
部署只在星期二和星期四进行，星期五不部署。支付服务失败时最多重试三次，之后通知负责人。工作进程只在启动时读取一次配置，所以修改后
需要重新启动。昨晚发现备份一直跳过附件文件夹，现在会复制两个存储桶并比较对象的数量。搜索页面变慢的原因是生产数据库缺少索引。
会议记录保存在维基中，请把决定的内容和理由一起写下来。不要在日志中记录用户信息，错误消息只包含请求编号。所有测试必须在合并之前通过。
"""
EMOJI = "😀 🎉 🚀 done ✅ 🔥🔥 fix 🐛 ship 📦 ok 👍 ✨ ⚠️ 🤔 🥳 📈 💡 🔒 🎨 👀 💪 " * 12


def as_json(indent: int | None) -> str:
    words = ENGLISH.split()
    claims = [
        {
            "ref": str(uuid.UUID(int=CHANCE.getrandbits(128))),
            "text": " ".join(CHANCE.sample(words, 12)),
            "kind": CHANCE.choice(["fact", "decision", "error"]),
            "scope": "project:github.com/org/repo",
            "score": round(CHANCE.random(), 4),
            "created_at": "2026-09-27T06:00:00Z",
        }
        for _ in range(8)
    ]
    return json.dumps({"claims": claims, "partial": False}, indent=indent)


def identifiers() -> str:
    return "\n".join(str(uuid.UUID(int=CHANCE.getrandbits(128))) for _ in range(60))


def hashes() -> str:
    return " ".join(f"{CHANCE.getrandbits(160):040x}" for _ in range(40))


def source(module: ModuleType) -> str:
    return inspect.getsource(module)


TEXTS = {
    "English prose": ENGLISH,
    "Korean prose": KOREAN,
    "Japanese prose": JAPANESE,
    "Chinese prose": CHINESE,
    "compact JSON": as_json(None),
    "indented JSON": as_json(2),
    "code with long docstrings": source(argparse),
    "code with short lines": source(urllib.parse),
    "code of a test": source(random),
    "emoji": EMOJI,
    "UUIDs": identifiers(),
    "hashes": hashes(),
    "mixed": ENGLISH + KOREAN + as_json(2) + CHINESE + identifiers(),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_the_estimate_is_at_most_3_percent_under_and_20_percent_over(kind: str) -> None:
    text = TEXTS[kind]
    assert 0.97 <= estimate(text) / len(CL100K.encode(text)) <= 1.20


@pytest.mark.parametrize("module", [argparse, inspect, json, random, urllib.parse, uuid])
def test_the_pages_of_a_real_source_file_stay_within_the_bounds(module: ModuleType) -> None:
    """A page of 1,500 characters may be off by more than the whole file."""
    text = source(module)
    pages = [text[i : i + 1500] for i in range(0, len(text) - 1499, 1500)]
    assert all(0.93 <= estimate(page) / len(CL100K.encode(page)) <= 1.25 for page in pages)


def test_an_empty_text_costs_nothing_and_any_other_something() -> None:
    assert estimate("") == 0
    assert estimate("a") == estimate(" ") == estimate("7") == 1


@given(st.text(alphabet=st.characters(), max_size=60))
def test_any_text_has_an_estimate_of_its_order(text: str) -> None:
    """No text, however odd, is thought free or costs more than its bytes."""
    size = len(text.encode("utf-8", "surrogatepass"))
    assert (size + 11) // 12 <= estimate(text) <= size + 1


@given(st.text(max_size=60), st.text(max_size=60))
def test_parts_cost_about_as_much_as_the_whole(one: str, two: str) -> None:
    """A pack adds up the estimates of its parts; a cut inside a word changes a few tokens."""
    assert abs(estimate(one + two) - estimate(one) - estimate(two)) <= 12


def test_a_megabyte_is_estimated_in_linear_time() -> None:
    for text in (" " * 1_000_000, "a" * 1_000_000, "aB" * 500_000, "\n " * 500_000, "가" * 300_000, "-" * 1_000_000):
        started = time.process_time()
        assert estimate(text) > 0
        assert time.process_time() - started < 10
