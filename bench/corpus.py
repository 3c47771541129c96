"""Statements and questions as they stand in the memory of developers' agents, made from a seed: for measuring speed.

The same number gives the same text, everywhere and always. A quarter is Korean. Words and identifiers are drawn as in
real text: a few often, most of them rarely (Zipf), so that common tokens have long posting lists and rare ones short.
What is found here says nothing about how well a search finds: for that there are sets which nobody here wrote
(bench/retrieval.py).
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Sequence
from functools import cache

SHORTEST, LONGEST = 80, 400
"""Characters of a statement."""
_IDENTIFIERS = 6_000
_KOREAN_SHARE = 0.25


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_THINGS = _words(
    "deployment build pipeline test service database migration queue worker cache index schema release branch token "
    "session login endpoint request response payload retry timeout webhook scheduler job container image cluster node "
    "replica backup snapshot log metric alert dashboard trace invoice payment refund checkout cart order customer "
    "account role permission key secret certificate proxy gateway router socket stream topic consumer producer batch "
    "export import report template email notification template locale translation currency date timezone calendar form "
    "page component hook store reducer selector style theme layout modal table chart filter search query ranking model "
    "embedding tokenizer parser lexer compiler linter formatter plugin extension script command flag option config "
    "environment variable default fallback limit quota budget window buffer pool thread lock transaction isolation "
    "constraint trigger view partition shard tenant workspace project folder document block note tag link graph edge"
)
_TOOLS = _words(
    "PostgreSQL SQLite Redis Kafka RabbitMQ Docker Kubernetes Terraform Ansible GitHub GitLab Jenkins CircleCI pytest "
    "hypothesis mypy ruff eslint prettier webpack vite React Vue Svelte Django FastAPI Flask Rails Spring Gradle Maven "
    "Cargo tokio Go Rust TypeScript Python Node.js Bun Deno nginx Caddy Grafana Prometheus Sentry OpenTelemetry S3 "
    "Lambda CloudFront BigQuery Snowflake dbt Airflow Spark pandas numpy Stripe Twilio Auth0 Keycloak Vault"
)
_REASONS = (
    "the old way lost messages under load",
    "two workers took the same job",
    "the vendor stops supporting it in spring",
    "it kept the lock for too long",
    "the tests passed here and failed in CI",
    "nobody could read the stack trace",
    "the index did not fit into memory",
    "customers saw the wrong currency",
    "the certificate expired on a weekend",
    "it doubled the bill of last month",
    "the upgrade changed the default isolation level",
    "clock skew made new tokens invalid",
)
_PEOPLE = _words("Mina Jonas Aiko Priya Tomás Leïla Sofia Minjun Seoyeon Daniel Olga Kwame")

_ENGLISH = (
    "We decided to use {tool} for the {thing} {thing} because {reason}.",
    "The {thing} of {ident} must stay under {num} ms, otherwise the {thing} {thing} gives up.",
    "Never call {ident} inside a {thing}; use {ident} and pass the {thing} explicitly.",
    "{who} prefers small pull requests, with the {thing} change apart from the {thing} change.",
    "Fixed in {ticket}: {ident} raised an error when the {thing} was empty, since {reason}.",
    "To rotate the {thing}, run `{path} --{thing}` and wait until the {thing} is green.",
    "The {thing} {thing} lives in {path} and is generated; edit {path} instead.",
    "Staging uses {tool} {num}.{small}, production still {tool} {num}.{small} until {ticket} is done.",
    "Convention: every {thing} has a {thing} with its name, and {ident} refuses the others.",
    "Retries of the {thing} are {small} with exponential backoff, at most {num} seconds in all.",
    "{ident} returns the {thing} sorted by {thing}, newest first, at most {num} rows.",
    "The {thing} failed on {date} because {reason}; {who} rolled it back within {num} minutes.",
    "Open question: should the {thing} be shared between {ident} and {ident}, or copied?",
    "Set {const} to {num} before starting {tool}, or the {thing} falls back to the slow {thing}.",
    "API keys of the {thing} are kept in {tool}, never in {path} nor in the {thing}.",
    "Feature {ticket} is behind the flag {const}; it is on for the {thing} team since {date}.",
    "When {tool} complains about the {thing}, delete {path} and build the {thing} again.",
    "The {thing} review of {date} agreed that {ident} replaces {ident} in all {thing} code.",
)
_KOREAN = (
    "{ko} {ko} 설정은 {path}에서 관리하고, {ident} 값은 {num}을 넘으면 안 된다.",
    "{tool} 대신 {tool}을 쓰기로 했다. 이유는 {ko} 처리 중에 {ko} 오류가 반복되었기 때문이다.",
    "{who}는 {ko} 변경과 {ko} 변경을 다른 커밋으로 나누는 것을 선호한다.",
    "{ticket}에서 {ident} 호출이 실패한 원인은 {ko} 만료였고, {date}에 고쳤다.",
    "{ko} 배포는 화요일과 목요일에만 하고, {ko} 점검이 끝난 뒤에 {ident}를 켠다.",
    "{ko}의 제한 시간은 {num}초이며 {small}번까지 다시 시도한다.",
    "운영 환경에서는 {const}를 {num}으로 두고, 개발 환경에서는 끈다.",
    "{ko} 목록은 최신순으로 정렬하고 한 번에 {num}개까지만 돌려준다.",
    "{ko} 장애가 나면 {path}를 지우고 {ko} 색인을 다시 만든다.",
    "회의 결정: {ident}는 폐기하고 {ko} 모듈이 {ko} 권한을 직접 확인한다.",
)
_KOREAN_THINGS = _words(
    "결제 로그인 배포 빌드 테스트 데이터베이스 마이그레이션 캐시 색인 대기열 작업자 세션 토큰 인증서 "
    "권한 알림 이메일 번역 통화 시간대 보고서 주문 환불 장바구니 고객 계정 역할 게이트웨이 "
    "프록시 로그 지표 경보 대시보드 백업 스냅샷 복제본 클러스터 컨테이너 이미지 일정 예약 파이프라인 "
    "브랜치 릴리스 검토 문서 검색 순위 임베딩 구문분석 설정 환경변수 기본값 한도 예산 버퍼 "
    "트랜잭션 잠금 분할 화면 양식 표 필터 링크 태그 폴더"
)
_PARTS = _words(
    "user order payment cart auth token session cache index query search rank event stream batch job retry sync export "
    "import report mail locale price tax stock ship page view form state store route guard parse format build deploy "
    "config flag metric trace audit vault scope tenant quota limit key file path image chunk block graph node edge"
)
_ACTIONS = _words(
    "get set load save fetch send apply build make create update delete remove merge split check validate resolve find "
    "list count parse render encode decode open close lock release start stop flush"
)
_ASKED = ("What did we decide about", "How do we handle", "Why is there", "Where is")
_SLOT = re.compile(r"\{(\w+)\}")
_WORD = re.compile(r"[^\W_]{4,}")


def statement(number: int, seed: int = 1) -> str:
    """The text of that number: one to several sentences, SHORTEST to LONGEST characters."""
    chance = random.Random(f"{seed}/{number}")
    frames = _KOREAN if chance.random() < _KOREAN_SHARE else _ENGLISH
    wanted = chance.randint(SHORTEST, LONGEST - 100)
    text = _sentence(chance, frames)
    while len(text) < wanted:
        longer = f"{text} {_sentence(chance, frames)}"
        if len(longer) > LONGEST:
            break
        text = longer
    if len(text) < SHORTEST:
        text += f" See {chance.choice(_TOOLS)} notes in {_ticket(chance)}, {_path(chance)}."
    return text


def statements(first: int, last: int, seed: int = 1) -> Iterator[str]:
    """Texts of the numbers first <= n < last."""
    return (statement(number, seed) for number in range(first, last))


def question(number: int, seed: int = 1) -> str:
    """A question whose answer is the statement of that number; one in ten names only an identifier of it."""
    chance = random.Random(f"{seed}?{number}")
    text = statement(number, seed)
    words: list[str] = list(dict.fromkeys(_WORD.findall(text)))
    if number % 10 == 9:
        return max(words, key=len)
    chosen = chance.sample(words, min(len(words), chance.randint(3, 6)))
    if re.search("[가-힣]", text):
        return f"{' '.join(chosen)} 어떻게 하기로 했지?"
    return f"{chance.choice(_ASKED)} {' '.join(chosen)}?"


def _sentence(chance: random.Random, frames: Sequence[str]) -> str:
    return _SLOT.sub(lambda slot: _fill(chance, slot.group(1)), chance.choice(frames))


def _fill(chance: random.Random, slot: str) -> str:
    match slot:
        case "thing":
            return _often(chance, _THINGS)
        case "ko":
            return _often(chance, _KOREAN_THINGS)
        case "tool":
            return _often(chance, _TOOLS)
        case "ident":
            return _often(chance, _identifiers())
        case "const":
            return "_".join(chance.sample(_PARTS, 3)).upper()
        case "path":
            return _path(chance)
        case "ticket":
            return _ticket(chance)
        case "who":
            return chance.choice(_PEOPLE)
        case "reason":
            return chance.choice(_REASONS)
        case "date":
            return f"20{chance.randint(23, 26)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
        case "small":
            return str(chance.randint(2, 9))
        case _:
            return str(chance.randint(10, 900))


def _ticket(chance: random.Random) -> str:
    return f"{chance.choice(('CORE', 'PAY', 'WEB', 'OPS', 'DATA'))}-{chance.randint(100, 99_999)}"


def _path(chance: random.Random) -> str:
    folder = "/".join(chance.sample(_PARTS, chance.randint(1, 2)))
    top, ending = chance.choice(("src", "lib", "scripts", "infra")), chance.choice(("py", "ts", "sql", "yaml"))
    return f"{top}/{folder}/{chance.choice(_PARTS)}.{ending}"


def _often(chance: random.Random, items: Sequence[str]) -> str:
    """The item of rank r is drawn about 1/r as often as the first."""
    return chance.choices(items, cum_weights=_weights(len(items)))[0]


@cache
def _weights(size: int) -> list[float]:
    return list(itertools.accumulate(1 / (rank + 3) for rank in range(size)))


@cache
def _identifiers() -> tuple[str, ...]:
    """Names as in code: camelCase, snake_case, Class.method and module::function."""
    chance = random.Random("identifiers")
    names: dict[str, None] = {}
    while len(names) < _IDENTIFIERS:
        action, first, second = chance.choice(_ACTIONS), chance.choice(_PARTS), chance.choice(_PARTS)
        match chance.randint(0, 3):
            case 0:
                name = f"{action}{first.title()}{second.title()}"
            case 1:
                name = f"{action}_{first}_{second}"
            case 2:
                name = f"{first.title()}{second.title()}.{action}"
            case _:
                name = f"{first}::{action}_{second}"
        names.setdefault(name)
    return tuple(names)
