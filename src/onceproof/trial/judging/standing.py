"""How everything stood when the suspect was stopped, and what that leaves in doubt. Pure."""

from dataclasses import dataclass
from enum import StrEnum


class DrainEnd(StrEnum):
    """How the wait for the suspect ended.

    CAUGHT_UP   its position is at the end of the input
    SILENT      it keeps no position that we can read, and its output stands still
    STUCK       its position is short of what was fed, and nothing moves; the feed need not be over
    SLOW        things still move, but the time is over: nothing can be said of what is missing
    """

    CAUGHT_UP = "caught up"
    SILENT = "silent"
    STUCK = "stuck"
    SLOW = "slow"


@dataclass(frozen=True, kw_only=True)
class Standing:
    end: DrainEnd
    stable: bool  # no transaction is open on the output
    position: dict[int, int] | None  # read before the output
    is_short: bool  # it had caught up, and its position says otherwise now
    was_broken: bool  # a judgement between iterations had findings

    @property
    def is_settled(self) -> bool:
        """Nothing that is missing may still come."""
        return self.stable and self.end is not DrainEnd.SLOW


def checks_that_count(standing: Standing, checks: tuple[str, ...]) -> tuple[str, ...]:
    """What a transaction hides is not lost; nothing can be said of it."""
    return checks if standing.stable else tuple(name for name in checks if name != "lost")


def doubts_of(standing: Standing, *, is_complete: bool | None, has_findings: bool) -> list[str]:
    """What keeps HELD from being said. `is_complete`: all has come out that could; of a suspect
    that keeps no position that is the only sign that it is done.
    """
    doubts = []
    if not standing.stable:
        doubts.append("a transaction stays open on the output topic")
    if standing.is_short or not (standing.end is DrainEnd.CAUGHT_UP or is_complete):
        doubts.append(
            f"the output did not drain: the suspect was {standing.end.value} before its end"
        )
    if standing.was_broken and not has_findings:
        doubts.append("a judgement between iterations had findings that are gone now")
    return doubts
