"""error_response: the broker never sees the request; the client is told an error of Kafka's."""

from dataclasses import dataclass

from onceproof.errors import UsageError
from onceproof.wire.matching import Seen
from onceproof.wire.rules.rule import Moment
from onceproof.wire.verdict import Answer, Verdict


@dataclass(frozen=True, kw_only=True)
class ErrorResponse:
    code: int

    def __post_init__(self) -> None:
        if self.code == 0:
            raise UsageError("error code 0 is no error")

    def act(self, _seen: Seen, _moment: Moment) -> Verdict:
        return Answer(error_code=self.code)
