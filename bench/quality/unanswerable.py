"""Questions that a set cannot answer: gibberish, everyday questions, and questions of sets about something else."""

from __future__ import annotations

import itertools
from pathlib import Path

from bench.quality.data import corpora, sets

GIBBERISH = (
    "xxxxxxxxxxxx",
    "asdfgh qwerty zxcvb",
    "lorem ipsum dolor sit amet",
    "ㅁㄴㅇㄹ ㅂㅈㄷㄱ",
    "!!!",
    "qqqq wwww eeee",
    "zzyzx plugh frobnitz",
    "ㅋㅋㅋㅋㅋ",
    "3f9a8b7c6d5e",
    "blorptang wibble snarf",
    "뷁뛟쒧",
    "sdkfj sldkfj 234 sdf",
)
EVERYDAY = (
    "What is the capital of Mongolia?",
    "How do I bake sourdough bread?",
    "오늘 날씨 어때?",
    "라면 맛있게 끓이는 법",
    "Who won the 1998 world cup?",
    "best hiking trails in Norway",
    "고양이 털 빠짐 줄이는 방법",
    "symptoms of vitamin D deficiency",
    "recipe for kimchi stew",
    "조선 시대의 세 번째 왕은 누구인가?",
    "cheap flights to Lisbon in May",
    "what does a cello sound like",
)
_SUBJECTS = {  # sets of one subject could answer each other
    "devmem-en": "development",
    "devmem-ko": "development",
    "devmem-ko-en": "development",
    "devmem-code": "development",
    "cosqa": "development",
    "commits": "development",
    "beam100k": "chat",
    "beam500k": "chat",
    "lme500c": "chat",
    "locomo-turn": "chat",
    "locomo-session": "chat",
    "korquad": "encyclopedia",
    "scifact": "science",
}
_OF_EACH = 6


def foreign_questions(folder: Path, name: str) -> list[str]:
    """Questions that the documents of the set do not answer."""
    others = [
        other
        for other in sets(folder)
        if other in _SUBJECTS and _SUBJECTS[other] != _SUBJECTS.get(name) and not other.startswith("beam")
    ]
    borrowed = [
        query.text
        for other in others
        for query in itertools.islice((q for corpus in corpora(folder, other) for q in corpus.queries), _OF_EACH)
    ]
    everyday = EVERYDAY if _SUBJECTS.get(name) not in (None, "chat", "encyclopedia") else ()
    return [*GIBBERISH, *everyday, *borrowed]
