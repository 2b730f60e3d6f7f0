"""An aim at one frame of the protocol, as a scenario writes it. Pure.

    aim = "EndTxn request"              before the broker sees it
    aim = "EndTxn response commit #3"   the broker has acted, the client does not know; the third
    aim = "Fetch request on *.ledger"   of those that speak of such a topic

Of a broker, what it sends to other brokers is meant: "WriteTxnMarkers request".

The frame is held at the proxy while the fault is injected. `release` says what becomes of it then:
drop    it is lost with its sender
pass    it goes on its way at once, whether or not its sender is still there
late    it goes on its way when the victim is back: a request from before its death
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from onceproof.errors import UsageError, unknown_name

_TEXT = re.compile(
    r"^(?P<api>[A-Z]\w+) (?P<direction>request|response)"
    r"(?: (?P<end>commit|abort))?(?: on (?P<topic>\S+))?(?: #(?P<occurrence>\d+))?$"
)


class Release(StrEnum):
    DROP = "drop"
    PASS = "pass"
    LATE = "late"


@dataclass(frozen=True, kw_only=True)
class WireAim:
    api: str
    direction: str
    committed: bool | None = None
    topic: str | None = None
    occurrence: int | None = None
    release: Release = Release.PASS

    def match(self) -> dict[str, Any]:
        """Fields of a rule's match."""
        given = {
            "api": self.api,
            "direction": self.direction,
            "committed": self.committed,
            "topic": self.topic,
            "occurrence": self.occurrence,
        }
        return {name: value for name, value in given.items() if value is not None}

    def __str__(self) -> str:
        words = [self.api, self.direction]
        if self.committed is not None:
            words.append("commit" if self.committed else "abort")
        if self.topic is not None:
            words.append(f"on {self.topic}")
        if self.occurrence is not None:
            words.append(f"#{self.occurrence}")
        return " ".join(words)


def parse_wire_aim(text: str, entry: Mapping[str, Any]) -> WireAim:
    from onceproof.wire.decoding import api_keys

    found = _TEXT.match(text)
    if found is None:
        raise UsageError(
            "a fault's `aim` must be at_once, mid_output, late_end, before_position or like"
            f' "EndTxn request #2"; got {text!r}'
        )
    if found["api"] not in api_keys():
        raise unknown_name("api", found["api"], api_keys())
    release = str(entry.get("release", Release.PASS))
    if release not in set(Release):
        raise unknown_name("release", release, set(Release))
    return WireAim(
        api=found["api"],
        direction=found["direction"],
        committed=None if found["end"] is None else found["end"] == "commit",
        topic=found["topic"],
        occurrence=None if found["occurrence"] is None else int(found["occurrence"]),
        release=Release(release),
    )
