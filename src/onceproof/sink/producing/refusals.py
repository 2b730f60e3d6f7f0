"""Which of librdkafka's errors no retry can cure, and what to say about them. Pure.

Everything else is worth another attempt, which begins with a fence and so is always safe.
"""

from onceproof.sink.errors import FencedError, LaneError, RefusedError, SinkError

# Error code → what to do about it.
_FINAL = {
    10: "raise kafka.max.request.size, and max.message.bytes of the topic",
    3: "create the topic, or give its right name",
    -188: "create the topic, or give its right name",
    -190: "the column partition names one that the topic does not have",
    29: "allow the operation on the topic; docs/sink.md lists the least ACLs",
    30: "allow the operation on the group; docs/sink.md lists the least ACLs",
    31: "allow the operation on the cluster; docs/sink.md lists the least ACLs",
    44: "the topic's policy refuses it",
    50: "kafka.transaction.timeout.ms is above the brokers' transaction.max.timeout.ms",
    53: "allow Write on the transactional ids; docs/sink.md lists the least ACLs",
    58: "check user, password and mechanism",
    -169: "check user, password and mechanism",
    -181: "check certificates and host names",
    87: "the brokers found the record invalid",
}


# INVALID_PRODUCER_EPOCH, PRODUCER_FENCED, and librdkafka's own word for both.
_FENCED = {47, 90, -144}


def is_final(code: int) -> bool:
    return code in _FINAL


def failure(what: str, code: int, text: str) -> SinkError:
    """The error to raise for one of librdkafka's."""
    if is_final(code):
        return RefusedError(f"{what}: {text}; {_FINAL[code]}")
    return (FencedError if code in _FENCED else LaneError)(f"{what}: {text}")
