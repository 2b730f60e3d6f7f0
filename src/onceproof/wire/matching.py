"""Which frames a rule is about. Pure.

A frame that cannot be decoded may be the very one that a rule waits for: that is neither "fits" nor
"does not fit", and whoever waits must be told.
"""

import fnmatch
from dataclasses import dataclass
from enum import StrEnum

from onceproof.errors import UsageError, unknown_name
from onceproof.wire.decoding import api_keys
from onceproof.wire.facts import NOTHING, Facts


class Direction(StrEnum):
    REQUEST = "request"  # at the proxy, before the broker sees it
    RESPONSE = "response"  # the broker has acted, the client does not know


class Fit(StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"  # as far as can be told, but the frame could not be decoded


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A frame at the proxy. A response has the facts of its request, and its own besides."""

    direction: Direction
    listener: str
    broker: int
    connection: int
    client_id: str | None
    instance: int | None  # of the suspect, where the connection is known to be its own
    start: int | None  # which of that instance's starts
    sender: int | None  # between brokers: whose connection it is
    api: str
    version: int
    correlation_id: int
    size: int
    facts: Facts | None  # None: it could not be decoded

    def told(self) -> Facts:
        return NOTHING if self.facts is None else self.facts


@dataclass(frozen=True, kw_only=True)
class Match:
    """None fits all. Names may hold * and ?; `occurrence` counts what fits otherwise, from 1."""

    api: str | None = None
    direction: Direction = Direction.REQUEST
    listener: str | None = None
    broker: int | None = None
    client: str | None = None
    instance: int | None = None
    start: int | None = None
    sender: int | None = None
    topic: str | None = None
    transactional_id: str | None = None
    group: str | None = None
    committed: bool | None = None
    occurrence: int | None = None

    def __post_init__(self) -> None:
        if self.api is not None and self.api not in api_keys():
            raise unknown_name("api", self.api, api_keys())
        if self.occurrence is not None and self.occurrence < 1:
            raise UsageError(f"occurrence counts from 1; got {self.occurrence}")

    def fits(self, seen: Seen) -> Fit:
        """`occurrence` aside, which whoever counts must ask about."""
        if not self._fits_head(seen):
            return Fit.NO
        if not self._asks_facts():
            return Fit.YES
        if seen.facts is None:
            return Fit.UNKNOWN
        return Fit.YES if self._fits_facts(seen.facts) else Fit.NO

    def _fits_head(self, seen: Seen) -> bool:
        return (
            self.direction is seen.direction
            and self.api in (None, seen.api)
            and self.listener in (None, seen.listener)
            and self.broker in (None, seen.broker)
            and self.instance in (None, seen.instance)
            and self.start in (None, seen.start)
            and self.sender in (None, seen.sender)
            and _fits_name(self.client, seen.client_id)
        )

    def _asks_facts(self) -> bool:
        asked = (self.topic, self.transactional_id, self.group, self.committed)
        return any(each is not None for each in asked)

    def _fits_facts(self, facts: Facts) -> bool:
        return (
            self.committed in (None, facts.committed)
            and _fits_name(self.transactional_id, facts.transactional_id)
            and _fits_name(self.group, facts.group)
            and (
                self.topic is None
                or any(_fits_name(self.topic, place.topic) for place in facts.places)
            )
        )


def _fits_name(pattern: str | None, name: str | None) -> bool:
    return pattern is None or (name is not None and fnmatch.fnmatchcase(name, pattern))
