"""Which places of the topics a witness names."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onceproof.report.story.tracing import LogPlace


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What a witness speaks of: an input, and the outputs that are wrong about it."""

    input: LogPlace | None
    outputs: tuple[LogPlace, ...]

    @property
    def is_known(self) -> bool:
        return self.input is not None or bool(self.outputs)

    @staticmethod
    def of(facts: Mapping[str, Any]) -> "Subject":
        output = _place(facts, "")
        before = _place({**facts, "before_topic": facts.get("topic")}, "before_", "partition")
        first = _place(facts, "first_")
        outputs = [each for each in (first, before, output) if each is not None]
        return Subject(input=_place(facts, "input_"), outputs=tuple(dict.fromkeys(outputs)))


def _place(facts: Mapping[str, Any], prefix: str, partition: str = "") -> LogPlace | None:
    topic = facts.get(f"{prefix}topic")
    number = facts.get(partition or f"{prefix}partition")
    offset = facts.get(f"{prefix}offset")
    if not isinstance(topic, str) or not isinstance(number, int) or not isinstance(offset, int):
        return None
    return LogPlace(topic, number, offset)
