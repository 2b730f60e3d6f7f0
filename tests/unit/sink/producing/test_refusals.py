"""Which of librdkafka's errors end the query, which the attempt, and which somebody else caused."""

import pytest
from confluent_kafka import KafkaError

from onceproof.sink.errors import FencedError, LaneError, RefusedError, SinkError
from onceproof.sink.producing.refusals import failure


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (KafkaError.MSG_SIZE_TOO_LARGE, RefusedError),
        (KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, RefusedError),
        (KafkaError.INVALID_PRODUCER_EPOCH, FencedError),
        (KafkaError.PRODUCER_FENCED, FencedError),
        (KafkaError._FENCED, FencedError),
        (KafkaError._TIMED_OUT, LaneError),
    ],
)
def test_each_error_is_told_as_what_can_be_done_about_it(code: int, kind: type[SinkError]) -> None:
    assert type(failure("commit of s-lane-0", code, "text")) is kind
