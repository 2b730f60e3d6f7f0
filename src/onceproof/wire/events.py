"""What the proxy tells whoever controls it, as it happens."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from onceproof.wire.facts import describe
from onceproof.wire.matching import Seen
from onceproof.wire.verdict import Verdict

Tell = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """A rule has decided about a frame."""

    seen: Seen
    verdict: Verdict
    by: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "event": "applied",
            "rules": list(self.by),
            "verdict": type(self.verdict).__name__.lower(),
            **asdict(self.verdict),
            "frame": frame_json(self.seen),
        }


def undecoded(seen: Seen, rules: tuple[str, ...]) -> dict[str, Any]:
    return {"event": "undecoded", "rules": list(rules), "frame": frame_json(seen)}


def trouble(told: str) -> dict[str, Any]:
    """A connection, or the recording, of which nothing can be said any more."""
    return {"event": "trouble", "told": told}


def frame_json(seen: Seen) -> dict[str, Any]:
    facts = dict(describe(seen.told()))
    if "places" in facts:
        facts["places"] = [asdict(place) for place in seen.told().places]
    return {
        "direction": seen.direction.value,
        "listener": seen.listener,
        "broker": seen.broker,
        "connection": seen.connection,
        "client_id": seen.client_id,
        "instance": seen.instance,
        "start": seen.start,
        "sender": seen.sender,
        "api": seen.api,
        "version": seen.version,
        "correlation_id": seen.correlation_id,
        **facts,
    }
