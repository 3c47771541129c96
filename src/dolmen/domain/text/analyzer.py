"""The one analyzer of both engines: text in, plain token strings out.

Classes of token, told apart by their first character:

| first character | class | example |
|---|---|---|
| a letter or digit | word: the stem of an English word, the accent-stripped word of another language | `cach` |
| Hangul, Han, kana, Thai, Lao, Myanmar, Khmer | gram: one or two characters of a run | `점검` |
| `=` | exact: the folded word, where its word token lost more than a final letter | `=caching`, `=método` |
| `@` | identifier: its parts joined with `_`, whatever joined them in the text | `@parse_block` |
| `~` | trigram of a Latin word (only when asked for) | `~cac` |
| a symbol such as an emoji | symbol | `🎉` |

The parts of an identifier are words, so that `user name` finds `getUserName`; its `@` token is one for all spellings,
so that `parse_block`, `parseBlock` and `parse-block` find each other.

A token holds ASCII letters, digits and `_`, one leading mark of `=@~`, and non-ASCII characters; never a space, a
quote or a NUL; at most 64 bytes of UTF-8. SQLite's FTS5 (`ascii` tokenizer with `tokenchars '_=@~'`) and PostgreSQL
(`array_to_tsvector`) therefore index exactly these tokens.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache, lru_cache
from itertools import pairwise

from dolmen.domain.text.identifiers import forms, parts, short_hash
from dolmen.domain.text.normal import compose, fold, strip_accents
from dolmen.domain.text.scripts import CLUSTERS, HAN_KANA, HANGUL, SYMBOLS, UNSPACED, WORD
from dolmen.domain.text.stem import stem
from dolmen.domain.text.stopwords import ENDINGS, FUNCTION_WORDS, PARTICLES

ANALYZER_VERSION = 1
"""Goes up with every change of the tokens; an index of another version is rebuilt from the texts."""
MAX_TOKEN_BYTES = 64
TOKEN_MARKS = "_=@~"

_JOIN = r"(?:://|::|->|[-./\\:@#])"
_NAMED = r"[Cc]\+\+(?!\w)|[CcFf]\#(?!\w)"
_CLITIC = r"(?:['’](?:s|t|d|m|ll|re|ve)(?!\w))?"
_ASCII_CHUNKS = re.compile(rf"{_NAMED}|\w+(?:{_JOIN}\w+)*{_CLITIC}", re.ASCII)
_HANGUL_RUN, _HAN_RUN, _SPACED, _UNSPACED_RUN = 1, 2, 3, 4
_HIRAGANA = re.compile("[\u3041-\u309f\u30fc]+\\Z")
_LANGUAGES = {"c++": ("cpp", "c"), "c#": ("csharp", "c"), "f#": ("fsharp", "f")}
_WEIGHTS = {"=": 0.4, "@": 1.5, "~": 0.12}
_CACHED_CHARACTERS = 80
_LONGEST_WORD = 48


@cache
def _chunks() -> re.Pattern[str]:
    """Compiled when it is first needed: that takes 8 ms, which commands that look for nothing would feel."""
    return re.compile(
        rf"([{HANGUL}]+)|([{HAN_KANA}]+)|({_NAMED}|{WORD}(?:{_JOIN}{WORD})*{_CLITIC})|([{UNSPACED}]+)|([{SYMBOLS}])"
    )


def analyze(text: str, *, query: bool = False, trigrams: bool = False) -> list[str]:
    """Tokens of any Unicode text, in order.

    Args:
        text: any string; operators, quotes, NUL and lone surrogates are data like everything else.
        query: False gives the tokens to index: repeats kept, single characters and bigrams of every CJK run.
            True gives the tokens to look for: each once; of a CJK run its bigrams, or its one character; not the
            Korean particle at the end of a Latin word or a number.
        trigrams: also character trigrams of ASCII words.

    Returns:
        A possibly empty list; a text of punctuation alone has no tokens.
    """
    tokens: list[str] = []
    extend = tokens.extend
    if text.isascii():
        for chunk in _ASCII_CHUNKS.findall(text):
            extend(_chunk(chunk))
    else:
        grams = _query_grams if query else _index_grams
        spaced_end = -1
        for match in _chunks().finditer(compose(text)):
            script, run = match.lastindex, match.group()
            if script == _HANGUL_RUN:
                if not (query and match.start() == spaced_end and run in PARTICLES):
                    extend(grams(run))
            elif script == _SPACED:
                extend(_chunk(run))
                spaced_end = match.end()
            elif script == _HAN_RUN:
                extend(grams(run))
            elif script == _UNSPACED_RUN:
                extend(map(_bounded, grams(CLUSTERS.findall(run))))
            else:
                tokens.append(run)
    if trigrams:
        extend(_trigrams(tokens))
    return list(dict.fromkeys(tokens)) if query else tokens


@lru_cache(maxsize=16384)
def weight(token: str) -> float:
    """How much a query token counts, by its class; scores of its documents are multiplied by it.

    1.5 identifiers; 1.0 words, grams, symbols; 0.4 exact forms (their word counts besides); 0.3 endings of Korean and
    Japanese words; 0.2 English function words; 0.12 trigrams. Chosen on the public development sets.
    """
    special = _WEIGHTS.get(token[:1])
    if special is not None:
        return special
    if token in FUNCTION_WORDS:
        return 0.2
    return 0.3 if token in ENDINGS or _HIRAGANA.match(token) else 1.0


def _index_grams(run: str | list[str]) -> list[str]:
    grams = list(run)
    grams.extend([a + b for a, b in pairwise(run)])
    return grams


def _query_grams(run: str | list[str]) -> list[str]:
    return [a + b for a, b in pairwise(run)] if len(run) > 1 else list(run)


def _chunk(chunk: str) -> tuple[str, ...]:
    # A cache that took base64 blobs and long URLs would hold the texts themselves.
    return _cached_chunk(chunk) if len(chunk) <= _CACHED_CHARACTERS else _chunk_tokens(chunk)


def _chunk_tokens(chunk: str) -> tuple[str, ...]:
    """Tokens of word characters, possibly joined: a plain word or an identifier."""
    if chunk.isalpha() and (chunk.islower() or chunk[1:].islower() or chunk.isupper()):
        return _word(fold(chunk))
    language = _LANGUAGES.get(chunk.lower())
    if language is not None:
        return language
    body, apostrophe, clitic = chunk.replace("’", "'").partition("'")
    if apostrophe and clitic == "t":
        body += clitic
    return tuple(_identifier(body))


_cached_chunk = lru_cache(maxsize=65536)(_chunk_tokens)


def _word(word: str) -> tuple[str, ...]:
    """The tokens of one folded word."""
    bare = strip_accents(word) or word  # a lone Arabic tatweel is all accent
    base = stem(bare)
    if word in (base, base + "e"):
        return (_bounded(base),)
    return (_bounded(base), _bounded("=" + word))


def _identifier(chunk: str) -> list[str]:
    wholes, words = forms(chunk)
    tokens = [_bounded("@" + whole) for whole in wholes]
    for word in words:
        if len(word) > _LONGEST_WORD:
            tokens.append(_bounded(fold(word)))
            continue
        pieces = parts(word)
        if len(pieces) > 1:
            tokens.extend(_word(fold(word)))
        for piece in pieces:
            tokens.extend(_word(piece))
    if len(words) == 1 and (short := short_hash(words[0])):
        tokens.append(short)
    return tokens


def _bounded(token: str) -> str:
    """The token, its end replaced by a hash of the whole where it would take more than 64 bytes."""
    if len(token) <= MAX_TOKEN_BYTES // 4:
        return token
    data = token.encode("utf-8", "replace")
    if len(data) <= MAX_TOKEN_BYTES:
        return token
    digest = hashlib.blake2b(data, digest_size=10).hexdigest()
    return data[: MAX_TOKEN_BYTES - 1 - len(digest)].decode("utf-8", "ignore") + "_" + digest


def _trigrams(tokens: list[str]) -> list[str]:
    words = [token.lstrip("=") for token in tokens]
    return [
        "~" + word[i : i + 3]
        for word in dict.fromkeys(words)
        if len(word) > 2 and word.isascii() and word.isalnum()
        for i in range(len(word) - 2)
    ]
