r"""A client's .properties file, as Kafka's own tools take it: Java's format, in UTF-8.

# a comment, or ! one
name=value          or name:value, or name value, with blanks around
name=one line \
     and the next   a line goes on where it ends in an odd number of backslashes
\t \n \r \f \u00e9   characters; any other one behind a backslash is itself: \= \: \\
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from onceproof.sink.errors import SinkError

_NAME = re.compile(r"(?:\\.|[^\\=:\s])*")
_SEPARATOR = re.compile(r"\s*[=:]?\s*")
_ENDS_IN_BACKSLASHES = re.compile(r"\\*$")
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|u|.)?")
_CHARACTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def read_properties(path: Path, option: str) -> dict[str, str]:
    """SinkError, which names the option that gave the path, and no value: it may be a secret."""
    try:
        return parse_properties(path.read_text(encoding="utf-8"))
    except OSError as error:
        why = error.strerror or "no such file"
    except UnicodeDecodeError:
        why = "it is not UTF-8 text"
    except ValueError as error:
        why = str(error)
    raise SinkError(f"{option} {path} cannot be read: {why}")


def parse_properties(text: str) -> dict[str, str]:
    """ValueError where a character is not one. Pure."""
    found = {}
    for line in _whole_lines(text.splitlines()):
        name = _NAME.match(line)
        assert name is not None  # it may be empty, as in Java
        separator = _SEPARATOR.match(line, name.end())
        assert separator is not None
        try:
            found[_plain(name[0])] = _plain(line[separator.end() :].rstrip())
        except ValueError:
            raise ValueError(f"{name[0]} has a \\u without its four digits") from None
    return found


def _whole_lines(lines: Iterable[str]) -> Iterator[str]:
    """Without comments and empty ones, and each with those it goes on in."""
    begun = ""
    for line in lines:
        bare = line.lstrip()
        if not begun and (not bare or bare[0] in "#!"):
            continue
        begun += bare
        if not _goes_on(bare):
            yield begun
            begun = ""
        else:
            begun = begun[:-1]
    if begun:
        yield begun


def _goes_on(line: str) -> bool:
    ending = _ENDS_IN_BACKSLASHES.search(line)
    return ending is not None and len(ending[0]) % 2 == 1


def _plain(text: str) -> str:
    """ValueError where an escape is not one."""
    return _ESCAPED.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    escaped = found[1] or ""
    if escaped == "u":
        raise ValueError
    if len(escaped) > 1:
        return chr(int(escaped[1:], 16))
    return _CHARACTERS.get(escaped, escaped)
