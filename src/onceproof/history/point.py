"""Something a scenario says should be so, and whether it was; it makes no verdict."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Point:
    name: str
    says: str
    met: bool | None  # None: it could not be told
    evidence: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Point":
        return Point(
            name=data["name"], says=data["says"], met=data["met"], evidence=data["evidence"]
        )
