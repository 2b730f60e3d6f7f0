"""An anomaly found: how often, and a few witnesses written as arguments."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# More witnesses than a person reads only hide the count, which is always exact.
WITNESSES_MAX = 10


@dataclass(frozen=True, kw_only=True)
class Witness:
    """One case of an anomaly: the sentence for people, the places for programs."""

    sentence: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {"sentence": self.sentence, **self.facts}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Witness":
        facts = {name: value for name, value in data.items() if name != "sentence"}
        return Witness(sentence=data["sentence"], facts=facts)


@dataclass(frozen=True, kw_only=True)
class Finding:
    anomaly: str
    count: int
    witnesses: tuple[Witness, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "anomaly": self.anomaly,
            "count": self.count,
            "witnesses": [witness.to_json() for witness in self.witnesses],
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Finding":
        return Finding(
            anomaly=data["anomaly"],
            count=data["count"],
            witnesses=tuple(Witness.from_json(witness) for witness in data["witnesses"]),
        )
