"""A light English stemmer: plurals, -ed, -ing, -ly and the commonest endings, in one pass.

Weaker than Porter on purpose: it never cuts a word below three letters with a vowel in it, so that names,
numbers and words of other languages mostly stay whole.
"""

from __future__ import annotations

import re

_VOWEL = re.compile("[aeiouy]")
_KEEP = frozenset("news always does this thus his has was is as us yes gas bus plus status focus species series "
                  "during thing nothing something anything everything string king ring spring bring being "
                  "need seed feed speed indeed exceed proceed succeed red bed shed only family reply apply supply "
                  "early daily".split())
_IRREGULAR = {"indices": "index", "children": "child", "ran": "run", "went": "go", "bought": "buy", "built": "build",
              "caught": "catch", "chose": "choose", "chosen": "choose", "kept": "keep", "left": "leave",
              "made": "make", "said": "say", "sent": "send", "taught": "teach", "took": "take", "taken": "take",
              "thought": "think", "told": "tell", "wrote": "write", "written": "write", "broke": "break",
              "broken": "break", "met": "meet", "paid": "pay", "spoke": "speak", "began": "begin", "begun": "begin",
              "fell": "fall", "found": "find", "gave": "give", "given": "give", "grew": "grow", "held": "hold",
              "knew": "know", "known": "know", "lost": "lose", "meant": "mean", "sold": "sell", "spent": "spend",
              "won": "win", "men": "man", "women": "woman", "people": "person", "mice": "mouse", "feet": "foot",
              "better": "good", "best": "good", "children's": "child", "dying": "die", "lying": "lie", "tying": "tie"}


def stem(word: str) -> str:
    """The stem of a lowercase ASCII word; other words come back unchanged.

    >>> [stem(w) for w in ("caches", "cached", "caching", "policies", "retries", "running")]
    ['cach', 'cach', 'cach', 'polici', 'retri', 'run']
    """
    if len(word) < 4 or not word.isascii() or not word.isalpha() or word in _KEEP:
        return _IRREGULAR.get(word, word)
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    return _final(_inflection(_plural(word)))


def _plural(word: str) -> str:
    if word[-1] != "s" or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    return word[:-1]


def _inflection(word: str) -> str:
    for ending in ("ing", "ed"):
        if word.endswith(ending):
            body = word[: -len(ending)]
            if len(body) >= 3 and _VOWEL.search(body) or len(body) == 2 and body[0] in "aeiou":
                return _undouble(body)
            return word
    if word.endswith("ly") and len(word) > 5:
        return word[:-2]
    return word


def _undouble(body: str) -> str:
    if len(body) > 3 and body[-1] == body[-2] and body[-1] not in "aeiouylsz":
        return body[:-1]
    return body


def _final(word: str) -> str:
    if len(word) > 4 and word[-1] == "e":
        return word[:-1]
    if len(word) > 2 and word[-1] == "y" and word[-2] not in "aeiou":
        return word[:-1] + "i"
    return word
