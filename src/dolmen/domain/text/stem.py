"""A light English stemmer: plurals, -ed, -ing, -ly, common irregular forms and the endings of developers' nouns.

Between an s-stemmer and Porter: it joins `configure`, `configured` and `configuration`, but leaves a short word alone
where cutting it would make another word (`note`, `state`, `station` stay three words), so names and words of other
languages mostly stay whole. On public retrieval sets it does as well as Porter (tests/domain/test_text_stem.py shows
the pairs that must meet and those that must not).
"""

from __future__ import annotations

from functools import lru_cache

_VOWELS = frozenset("aeiouy")
_WHOLE_WORDS = (
    "news always does this thus his has was is as us yes gas bus plus status focus species series during thing "
    "nothing something anything everything string king ring spring bring being need seed feed speed indeed exceed "
    "proceed succeed hundred only family reply apply supply early daily business witness harness customer another "
    "together however whether rather december september october november evening morning ceiling wedding sibling "
    "darling july italy fly ally rely multiply comply assembly monopoly anomaly"
)
_WHOLE = frozenset(_WHOLE_WORDS.split())
# A base form and the forms that stand for it.
_IRREGULAR_FORMS = (
    "index indices; child children; run ran; go goes went gone; buy bought; build built; catch caught; choose chose "
    "chosen; keep kept; leave left; make made; say said; send sent; teach taught; take took taken; think thought; "
    "tell told; write wrote written; break broke broken; meet met; pay paid; speak spoke spoken; begin began begun; "
    "fall fell fallen; find found; give gave given; grow grew grown; hold held; know knew known; lose lost; mean "
    "meant; sell sold; spend spent; win won; man men; woman women; person people; mouse mice; foot feet; die dying; "
    "lie lying; tie tying; eat ate eaten; drink drank; swim swam; drive drove driven; ride rode ridden; bring "
    "brought; feel felt; fly flew flown; forget forgot forgotten; get got gotten; hear heard; hide hid hidden; lead "
    "led; see saw seen; sing sang sung; sit sat; sleep slept; stand stood; throw threw thrown; wear wore worn; wake "
    "woke; understand understood; come came; become became; do did done; draw drew drawn; wife wives; life lives; "
    "knife knives; leaf leaves"
)
_IRREGULAR = {form: base for base, *forms in map(str.split, _IRREGULAR_FORMS.split(";")) for form in forms}


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The stem of a lowercase ASCII word; other words come back unchanged.

    >>> [stem(w) for w in ("caches", "caching", "policies", "coded", "running", "configuration")]
    ['cach', 'cach', 'policy', 'code', 'run', 'configur']
    """
    word = _IRREGULAR.get(word, word)
    if len(word) < 4 or word in _WHOLE or not word.isascii() or not word.isalpha():
        return word
    return _final(_derivation(_inflection(_plural(word))))


def _plural(word: str) -> str:
    if word[-1] != "s" or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")) or (word.endswith("oes") and len(word) > 5):
        return word[:-2]
    return word[:-1]


def _inflection(word: str) -> str:
    if word in _WHOLE:
        return word
    if word.endswith("ied"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith("eed"):
        return word[:-1] if len(word) > 5 else word
    body = word[:-3] if word.endswith("ing") else word[:-2] if word.endswith("ed") else ""
    if body:
        return _restored(body) if _has_vowel(body) and len(body) > 1 else word
    if word.endswith("ly") and len(word) > 5:
        return word[:-2] + "le" if word[-3] == "b" else word[:-2]
    return word


def _restored(body: str) -> str:
    """The verb of a stripped -ed or -ing form: `runn` -> `run`, `cod` -> `code`, `us` -> `use`."""
    if len(body) == 2:
        return body + "e" if body[0] in _VOWELS else body
    if len(body) > 3 and body[-1] == body[-2]:
        return body if body[-1] in "aeiouylszf" else body[:-1]
    if len(body) < 5 and _closed_syllable(body) and not any(c in _VOWELS for c in body[:-2]):
        return body + "e"
    return body


def _derivation(word: str) -> str:
    size = len(word)
    if size > 8 and word.endswith("ation"):
        word = word[:-5] if size > 9 else word[:-3]
    elif size > 7 and word.endswith(("tion", "sion")):
        word = word[:-3]
    elif size > 9 and word.endswith(("ability", "ibility")):
        word = word[:-5] + "le"
    elif size > 7 and word.endswith("ity"):
        word = word[:-3]
    elif size > 7 and word.endswith("ness"):
        word = word[:-4]
    elif size > 7 and word.endswith("er"):
        word = word[:-2]
    elif size > 7 and word.endswith("ate"):
        word = word[:-3]
    elif size > 6 and word.endswith("at"):
        word = word[:-2]
    return word[:-4] if len(word) > 8 and word.endswith("ment") else word


def _final(word: str) -> str:
    if len(word) > 5 and word.endswith("ll"):
        return word[:-1]
    if word[-1] != "e" or len(word) < 4:
        return word
    if len(word) < 6 and _closed_syllable(word[:-1]) and not any(c in _VOWELS for c in word[:-3]):
        return word  # `note` is not `not`
    return word[:-1]


def _closed_syllable(body: str) -> bool:
    """Whether it ends consonant, vowel, consonant, the last one none of w, x, y."""
    return (
        len(body) > 2
        and body[-1] not in _VOWELS
        and body[-1] not in "wx"
        and body[-2] in _VOWELS
        and body[-3] not in _VOWELS
    )


def _has_vowel(body: str) -> bool:
    return any(c in _VOWELS for c in body)
