"""One thing that is not as it should be: where, what shows it, and what to do about it."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Hanging:
    """Where a transaction hangs: all that is needed to abort it."""

    topic: str
    partition: int
    start_offset: int


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    kind: str  # a name of catalog.KINDS
    subject: str
    seen: str
    cure: str
    hanging: Hanging | None = None  # the transaction that it comes from: with it, it goes

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "subject": self.subject,
            "seen": self.seen,
            "cure": self.cure,
        }
