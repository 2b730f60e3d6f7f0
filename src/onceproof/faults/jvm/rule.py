"""A rule of Byteman's as text: what a method of a JVM does, besides its own work. Pure.

    RULE onceproof-1
    CLASS kafka.coordinator.group.GroupMetadataManager
    METHOD handleTxnCompletion
    AT ENTRY
    IF (TRUE) AND incrementCounter("onceproof-1") <= 3
    DO traceln("onceproof-1 fired …"); delay(1000)
    ENDRULE

Each time it fires it says so in the victim's log: without such a line it did nothing.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from onceproof.errors import UsageError

_METHOD = re.compile(r"^(?P<class>[A-Za-z_$][\w$]*(?:\.[\w$]+)*)\.(?P<method>[A-Za-z_$][\w$]*)$")
_EXCEPTION = re.compile(r"^[a-z]\w*(\.\w+)*\.[A-Z]\w*$")
_FIRED = re.compile(r"^(?P<rule>\S+) fired at (?P<at_ms>\d+) in (?P<thread>.*)$")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """`delay_ms` or `exception`: exactly one is set."""

    name: str
    class_name: str
    method: str
    delay_ms: int | None = None
    exception: str | None = None
    times: int | None = None  # None: each time the method is called
    condition: str = "TRUE"  # of Byteman's; $1 is the method's first argument

    @property
    def place(self) -> str:
        return f"{self.class_name}.{self.method}"

    def to_text(self) -> str:
        condition = self.condition
        if self.times is not None:
            condition = f'({condition}) AND incrementCounter("{self.name}") <= {self.times}'
        lines = [
            f"RULE {self.name}",
            f"CLASS {self.class_name}",
            f"METHOD {self.method}",
            "AT ENTRY",
            f"IF {condition}",
            f"DO {self._trace()}; {self._act()}",
            "ENDRULE",
        ]
        return "\n".join(lines) + "\n"

    def _trace(self) -> str:
        at = "java.lang.System.currentTimeMillis()"
        thread = "java.lang.Thread.currentThread().getName()"
        return f'traceln("{self.name} fired at " + {at} + " in " + {thread})'

    def _act(self) -> str:
        if self.exception is not None:
            return f'throw new {self.exception}("{self.name}: thrown by onceproof")'
        return f"delay({self.delay_ms})"


@dataclass(frozen=True, kw_only=True)
class Firing:
    rule: str
    at_ms: int  # since 1970
    thread: str


def split_method(text: str) -> tuple[str, str]:
    """Class and method of "package.Class.method"."""
    found = _METHOD.match(text)
    if found is None:
        raise UsageError(f'a fault\'s `method` must be like "package.Class.method"; got {text!r}')
    return found["class"], found["method"]


def check_exception(text: object) -> None:
    if not isinstance(text, str) or not _EXCEPTION.match(text):
        raise UsageError(
            f'a fault\'s `exception` must be like "java.lang.IllegalStateException"; got {text!r}'
        )


def firings(lines: Iterable[str]) -> list[Firing]:
    """Those that a log tells of, whatever else it says."""
    found = filter(None, map(_FIRED.match, lines))
    return [
        Firing(rule=each["rule"], at_ms=int(each["at_ms"]), thread=each["thread"]) for each in found
    ]


def transformed(listing: str) -> set[str]:
    """Names of the rules that have found their method, as Byteman lists them."""
    names, name = set(), ""
    for line in listing.splitlines():
        if line.startswith("RULE "):
            name = line.removeprefix("RULE ").strip()
        elif line.startswith("trigger method:"):
            names.add(name)
    return names


def failed(listing: str) -> dict[str, str]:
    """Rules that Byteman could not carry out: name → its reason."""
    reasons, name, is_failed = {}, "", False
    for line in listing.splitlines():
        if line.startswith("RULE "):
            name, is_failed = line.removeprefix("RULE ").strip(), False
        elif line.startswith("failed to "):
            is_failed = True
            reasons[name] = line
        elif is_failed and "Exception: " in line:
            reasons[name] = line.partition("Exception: ")[2]
            is_failed = False
    return reasons
