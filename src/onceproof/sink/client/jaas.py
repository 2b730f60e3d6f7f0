r"""Reads a JAAS configuration as Java's client does (its words are those of StreamTokenizer).

    org.example.SomeLoginModule required name="va\"lue" other='value' third=bare;
    └────────── module ───────┘ └ flag ┘ └────────────── options ────────────┘

A message tells the place and what was expected there, never what stands there: it may be a secret.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from onceproof.sink.errors import SinkError

FLAGS = ("required", "requisite", "sufficient", "optional")
_TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<word>[\w.$-]+)
      | "(?P<double>(?:[^"\\\n]|\\.)*)"
      | '(?P<single>(?:[^'\\\n]|\\.)*)'
      | (?P<sign>[=;])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\([0-3][0-7]{0,2}|[4-7][0-7]?|.)", re.DOTALL)
_CONTROLS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


@dataclass(frozen=True, kw_only=True)
class LoginEntry:
    module: str
    options: dict[str, str] = field(repr=False)  # secrets


@dataclass(frozen=True, kw_only=True)
class _Token:
    kind: str  # word, quoted, sign, end
    text: str = field(repr=False)
    place: int


def read_jaas(text: str) -> LoginEntry:
    """The one entry of a client's configuration."""
    tokens = _tokens(text)
    module = _expect(next(tokens), "the class of a login module", "word")
    flag = _expect(next(tokens), f"one of {', '.join(FLAGS)}", "word")
    if flag.text.lower() not in FLAGS:
        raise _wrong(flag.place, f"one of {', '.join(FLAGS)}")
    options = {}
    while (token := next(tokens)).text != ";" or token.kind != "sign":
        name = _expect(token, "the name of an option, or ';' at the end", "word", "quoted")
        sign = _expect(next(tokens), "'='", "sign")
        if sign.text != "=":
            raise _wrong(sign.place, "'='")
        options[name.text] = _expect(next(tokens), "a value", "word", "quoted").text
    _expect(next(tokens), "nothing more: a client has one login module", "end")
    return LoginEntry(module=module.text, options=options)


def _tokens(text: str) -> Iterator[_Token]:
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise _wrong(place, "a word, a quoted text with its end, '=' or ';'")
        if match.lastgroup in {"double", "single"}:
            yield _Token(kind="quoted", text=_unescaped(match[match.lastgroup]), place=place)
        elif match.lastgroup in {"word", "sign"}:
            yield _Token(kind=match.lastgroup, text=match[0], place=place)
        place = match.end()
    yield _Token(kind="end", text="", place=place)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text)


def _character(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code, 8)) if code[0] in "01234567" else _CONTROLS.get(code, code)


def _expect(token: _Token, expected: str, *kinds: str) -> _Token:
    if token.kind not in kinds:
        raise _wrong(token.place, expected)
    return token


def _wrong(place: int, expected: str) -> SinkError:
    return SinkError(
        f"option 'kafka.sasl.jaas.config' cannot be read at character {place + 1}:"
        f" expected {expected}"
    )
