"""How the frames of a story read: short enough for one line, and no more than is known."""

import re

from onceproof.report.story.kafka_errors import error_name
from onceproof.report.story.recording import Batch, Exchange, Frame
from onceproof.report.story.tracing import NO_PRODUCER, Fetched, LogPlace, records_of

# A run's own topics carry its whole name; their last word tells them apart.
OWN_TOPIC = re.compile(r"onceproof-.+-(in|out)")
PROXIED = {
    "wait": "delayed at the proxy",
    "hold": "held at the proxy",
    "drop": "dropped at the proxy",
    "answer": "answered by the proxy, its broker never saw it",
    "disconnect": "lost: its connection was closed at the proxy",
}
ENDS = {"COMMITTED": "commit", "ABORTED": "abort"}


def topic_name(topic: str) -> str:
    own = OWN_TOPIC.fullmatch(topic)
    return own.group(1) if own else topic


def partition(place: LogPlace) -> str:
    return f"{topic_name(place.topic)}-{place.partition}"


def short(place: LogPlace) -> str:
    return f"{partition(place)}@{place.offset}"


def output_topic(input_topic: str) -> str | None:
    """Of a run of ours; None: nobody says."""
    is_own = OWN_TOPIC.fullmatch(input_topic) and input_topic.endswith("-in")
    return input_topic.removesuffix("in") + "out" if is_own else None


def client(frame: Frame) -> str:
    if frame.instance is not None:
        return f"instance {frame.instance}"
    return f"client {frame.client_id or 'without a name'}"


def has_producer(frame: Frame) -> bool:
    return frame.producer_id not in (None, NO_PRODUCER)


def producer(frame: Frame) -> str:
    if not has_producer(frame):
        return "no producer id"
    return f"producer {frame.producer_id} epoch {frame.producer_epoch}"


def fetch(fetched: Fetched, place: LogPlace) -> str:
    begin = f"{partition(place)}@{fetched.from_offset}"
    if fetched.last_offset is None:
        return f"Fetch from {begin} on, which may have brought {short(place)}"
    return f"Fetch brought {begin} to {fetched.last_offset}"


def fetch_past(fetched: Fetched, place: LogPlace) -> str:
    return f"Fetch from {partition(place)}@{fetched.from_offset} on: past it"


def position(given: Exchange, place: LogPlace) -> str:
    told = None if given.response is None else given.response.at(place.topic, place.partition)
    if told is None or told.offset is None or told.offset < 0:
        return f"OffsetFetch: no position is committed on {partition(place)}"
    return f"OffsetFetch: the position is {partition(place)}@{told.offset}"


def produce(exchange: Exchange, place: LogPlace) -> str:
    request = exchange.request
    count = records_of(exchange, place.topic, place.partition)
    what = "Produce" if count is None else f"Produce of {count} record{'s' * (count != 1)}"
    others = len(request.places) - 1
    more = f" (and {others} more partition{'s' * (others != 1)})" if others else ""
    return f"{what} to {partition(place)}{more}, {producer(request)}"


def written(exchange: Exchange, place: LogPlace) -> str:
    response = exchange.response
    told = None if response is None else response.at(place.topic, place.partition)
    if exchange.error_code or told is None or told.offset is None or told.offset < 0:
        return outcome(exchange)
    count = records_of(exchange, place.topic, place.partition)
    last = f" to {told.offset + count - 1}" if count and count > 1 else ""
    return f"written at {partition(place)}@{told.offset}{last}"


def commit(exchange: Exchange, place: LogPlace) -> str:
    request = exchange.request
    asked = request.at(place.topic, place.partition)
    offset = None if asked is None else asked.offset
    who = f", {producer(request)}" if exchange.api == "TxnOffsetCommit" else ""
    return f"{exchange.api}: position {partition(place)}@{offset}{who}"


def end_txn(request: Frame) -> str:
    return f"EndTxn {'commit' if request.committed else 'abort'}, {producer(request)}"


def begun(exchange: Exchange) -> str:
    if exchange.error_code or exchange.response is None:
        return outcome(exchange)
    return f"{producer(exchange.response)} begins"


def outcome(exchange: Exchange) -> str:
    return f"refused, {error_name(exchange.error_code)}" if exchange.error_code else "done"


def answer_to(exchange: Exchange, answered: str) -> str:
    """Told apart from its request, an answer must say what it answers."""
    return f"{exchange.api} answered: {answered}"


def proxied(frame: Frame) -> str:
    return "" if frame.verdict is None else f"; {PROXIED.get(frame.verdict, frame.verdict)}"


def marker(batch: Batch, place: LogPlace) -> str:
    end = ENDS.get(batch.outcome)
    if end is None or batch.marker_offset is None:
        return f"no marker: the transaction of {short(place)} is still open"
    where = f"{partition(place)}@{batch.marker_offset}"
    return f"marker at {where}: {end} of producer {batch.producer_id} epoch {batch.epoch}"


def place_in(exchange: Exchange, topic: str | None) -> LogPlace | None:
    """Where a Produce wrote first in the topic (None: anywhere); offset -1 where it is not told."""
    for asked in exchange.request.places:
        if topic in (None, asked.topic):
            response = exchange.response
            told = None if response is None else response.at(asked.topic, asked.partition)
            offset = -1 if told is None or told.offset is None else told.offset
            return LogPlace(asked.topic, asked.partition, offset)
    return None


def detail(frame: Frame) -> str:
    """For who wants to find the frame in the recording."""
    told = {
        "connection": frame.connection,
        "correlation id": frame.correlation_id,
        "sequence": frame.first_sequence if frame.api == "Produce" else None,
        "client": frame.client_id,
        "transactional id": frame.transactional_id,
        "group": frame.group,
    }
    return ", ".join(f"{name} {value}" for name, value in told.items() if value is not None)
