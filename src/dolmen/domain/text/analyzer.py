"""The one analyzer of both engines: text in, plain token strings out.

Classes of token, told apart by their first character:

| first character | class | example |
|---|---|---|
| a letter or digit | word: the stem of an English word, an accent-stripped word of another script | `cach` |
| Hangul, Han, kana, Thai, Lao, Khmer, Myanmar | gram: one or two characters of a run | `점검` |
| `=` | exact: the whole folded word where it differs from its word token | `=caching`, `=método` |
| `@` | identifier: its parts joined with `_`, whatever joined them in the text | `@parse_block` |
| `~` | trigram of a Latin word (only when asked for) | `~cac` |
| a symbol such as an emoji | symbol | `🎉` |

A token holds ASCII letters, digits, `_`, one leading mark of `=@~`, and non-ASCII characters; never a space, a
quote, a NUL; at most 64 bytes of UTF-8. So SQLite's FTS5 (`ascii` tokenizer with `tokenchars '_=@~'`) and
PostgreSQL (`array_to_tsvector`) index exactly these tokens.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from itertools import pairwise

from dolmen.domain.text.normal import compose, fold, strip_accents
from dolmen.domain.text.stem import stem

MAX_TOKEN_BYTES = 64
TOKEN_MARKS = "_=@~"

_MARKS = ("\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
          "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0\u0900-\u0963\u0966-\u0dff"
          "\u0f18-\u0f19\u0f35\u0f37\u0f39\u0f71-\u0f84\u0f86-\u0f87\u0f8d-\u0fbc\u135d-\u135f\u1ab0-\u1aff\u1dc0-\u1dff"
          "\u20d0-\u20ff\ufe20-\ufe2f")
_HANGUL = "\uac00-\ud7a3\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\ud7b0-\ud7fb"
_HAN_KANA = ("\u2e80-\u2fd5\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u3099-\u309f\u30a1-\u30fa"
             "\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufad9"
             "\U0001b000-\U0001b16f\U00020000-\U000323af")
_UNSPACED = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u109f\u1780-\u17d3\uaa60-\uaa7f"
_SYMBOL = "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_WORD = rf"(?:[^\W{_HANGUL}{_HAN_KANA}{_UNSPACED}]|[{_MARKS}])"
_JOIN = r"(?:://|::|->|[-./\\:@]|\#)"

_ASCII_CHUNK = re.compile(rf"\w+(?:{_JOIN}\w+)*(?:\+\+|\#)?", re.ASCII)
_CHUNK = re.compile(rf"({_WORD}+(?:{_JOIN}{_WORD}+)*(?:\+\+|\#)?)|([{_HANGUL}]+)|([{_HAN_KANA}]+)|([{_UNSPACED}]+)"
                    rf"|([{_SYMBOL}])")
_CLUSTER = re.compile("[\u0e01-\u0e30\u0e32-\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2-\u0eb3\u0ebd-\u0ec6\u0edc-\u0edf"
                      "\u1000-\u102a\u103f-\u1055\u1780-\u17b3\u17d7\uaa60-\uaa7a]?[^\u0e01-\u0e30\u0e32-\u0e33"
                      "\u0e40-\u0e46\u0e81-\u0eb0\u0eb2-\u0eb3\u0ebd-\u0ec6\u0edc-\u0edf\u1000-\u102a\u103f-\u1055"
                      "\u1780-\u17b3\u17d7\uaa60-\uaa7a]*")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+[0-9]*|[^A-Za-z_\W]+|[^\x00-\x7f]+")
_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+]*://")
_PATH_JOIN = re.compile(r"://|::|->|[/\\:@#]")
_ANY_JOIN = re.compile(r"://|::|->|[-./\\:@#_]+")
_LETTERS = re.compile(r"[a-z]{3,}(?=\d)")

# Particles stuck to a Latin word or a number in Korean ("API는", "3월에서"): they say nothing about the topic.
_PARTICLES = frozenset("은 는 이 가 을 를 의 에 도 로 와 과 만 나 랑 에서 에게 으로 까지 부터 보다 처럼 에는 에도 이나 이라 "
                       "하고 이랑 로는 라는 이라는 에서는 으로는 이고 라고 입니다 이다".split())

_WEIGHTS = {"=": 0.4, "@": 2.0, "~": 0.3}
_STOPWORDS = frozenset("a an and are as at be but by did do does for from had has have he her his how i if in into is it its "
                       "me my of on or our she so than that the their them then there these they this to us was we "
                       "were what when where which who whom why will with would you your".split())


def analyze(text: str, *, query: bool = False, trigrams: bool = False) -> list[str]:
    """Tokens of any Unicode text, in order.

    Args:
        text: any string; operators, quotes, NUL and lone surrogates are data like everything else.
        query: True gives the tokens to look for: each once, bigrams of a CJK run of two or more characters and
            the single character of a run of one. False gives the tokens to index: repeats kept, single
            characters and bigrams of every run.
        trigrams: also character trigrams of Latin words.
    """
    tokens: list[str] = []
    extend = tokens.extend
    if text.isascii():
        for chunk in _ASCII_CHUNK.findall(text):
            extend(_chunk_tokens(chunk))
    else:
        grams = _query_grams if query else _index_grams
        previous_end = -1
        for match in _CHUNK.finditer(compose(text)):
            kind, run = match.lastindex, match.group()
            if kind == 1:
                extend(_chunk_tokens(run))
                previous_end = match.end()
            elif kind == 2:
                if not (query and match.start() == previous_end and run in _PARTICLES):
                    extend(grams(run))
            elif kind == 3:
                extend(grams(run))
            elif kind == 4:
                extend(grams([_bounded("", c) for c in _CLUSTER.findall(run) if c]))
            else:
                tokens.append(run)
    if trigrams:
        extend(_trigrams(tokens))
    return list(dict.fromkeys(tokens)) if query else tokens


def weight(token: str) -> float:
    """Base weight of a query token by its class; the caller multiplies its score by it.

    1.0 for words and bigrams, 0.1 for English function words, 2.0 for identifiers, 0.4 for exact forms (their
    word counts besides), 0.3 for trigrams.
    """
    special = _WEIGHTS.get(token[:1])
    if special is not None:
        return special
    return 0.1 if token in _STOPWORDS else 1.0


def _index_grams(run: str | list[str]) -> list[str]:
    grams = list(run)
    grams.extend([a + b for a, b in pairwise(run)])
    return grams


def _query_grams(run: str | list[str]) -> list[str]:
    return [a + b for a, b in pairwise(run)] if len(run) > 1 else list(run)


@lru_cache(maxsize=65536)
def _chunk_tokens(chunk: str) -> tuple[str, ...]:
    """Tokens of a run of word characters, possibly joined: a plain word or an identifier."""
    if chunk.isalpha() and (chunk.islower() or chunk[1:].islower() or chunk.isupper()):
        return _word_tokens(fold(chunk))
    return tuple(_identifier_tokens(chunk))


def _word_tokens(word: str) -> tuple[str, ...]:
    base = stem(strip_accents(word))
    if base == word:
        return (_bounded("", word),)
    return (_bounded("", base), _bounded("=", word))


def _identifier_tokens(chunk: str) -> list[str]:
    body = _SCHEME.sub("", chunk)
    tokens: dict[str, None] = {}
    if body.endswith(("++", "#")):
        tokens[fold(body.rstrip("+#")) + ("pp" if body.endswith("+") else "sharp")] = None
        body = body.rstrip("+#")
    pieces = [body, *_PATH_JOIN.split(body)]
    pieces += [dotted for piece in pieces[1:] if "." in piece for dotted in piece.split(".")]
    for piece in pieces[:40]:
        parts = _parts(piece)
        if len(parts) > 1:
            tokens[_bounded("@", "_".join(parts))] = None
            if parts[0][0] == "v" and parts[0][1:].isdigit():
                tokens[_bounded("@", "_".join([parts[0][1:], *parts[1:]]))] = None
    words = list(tokens)
    for joined in _ANY_JOIN.split(body):
        if not joined:
            continue
        parts = _parts(joined)
        if len(parts) > 1:
            words.extend(_word_tokens(fold(joined)))
        for part in parts:
            words.extend(_word_tokens(part))
            if letters := _LETTERS.match(part):
                words.extend(_word_tokens(letters.group()))
    return words


def _parts(piece: str) -> list[str]:
    return [fold(part) for word in _ANY_JOIN.split(piece) if word for part in _CAMEL.findall(word)]


def _bounded(mark: str, body: str) -> str:
    """The token, with what does not fit 64 bytes replaced by a hash of the whole."""
    token = mark + body
    if len(token) <= 16:
        return token
    data = token.encode("utf-8", "replace")
    if len(data) <= MAX_TOKEN_BYTES:
        return token
    digest = hashlib.blake2b(data, digest_size=10).hexdigest()
    return data[: MAX_TOKEN_BYTES - 21].decode("utf-8", "ignore") + "_" + digest


def _trigrams(tokens: list[str]) -> list[str]:
    out: list[str] = []
    for token in tokens:
        word = token[1:] if token[0] == "=" else token
        if len(word) >= 3 and word.isascii() and word.isalnum():
            out.extend(["~" + word[i : i + 3] for i in range(len(word) - 2)])
    return out
