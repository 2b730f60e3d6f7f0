"""What a trial asks of a suspect's table. Two powers are not every database's."""

from typing import Protocol, runtime_checkable

Row = tuple[int, bytes | None, bytes | None]  # partition of the input, key, value
Identity = tuple[int, ...]  # what tells one piece of work from another


class Table(Protocol):
    def make(self) -> None:
        """The tables themselves, before the first instance starts: as topics are made."""

    def position(self) -> dict[int, int] | None:
        """Next input offset by partition; None before the first."""

    def rows(self) -> list[Row]:
        """All results, those of a partition in the order they were written."""

    def close(self) -> None: ...


@runtime_checkable
class Seen(Protocol):
    """It can be seen from outside that somebody is in the middle of a batch."""

    def unfinished(self, instance: int) -> dict[Identity, str]:
        """What is written while the position has not been moved: what it is, told in words."""


@runtime_checkable
class Gate(Protocol):
    """Who has written its rows can be held before it moves its position."""

    def shut(self) -> None: ...

    def waiting(self, instance: int) -> str | None:
        """What shows that this instance stands before the gate."""

    def open(self) -> None: ...
