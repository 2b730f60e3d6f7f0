"""Which frames one record went through. Pure.

    in-0@401 ──Fetch──▶ instance ──Produce──▶ out-0@977      what is asked for
                            ├──TxnOffsetCommit, OffsetCommit▶ the position goes past it
                            └──EndTxn───────────────────────▶ its transaction ends

Records are not looked into: a frame is told by the offsets it names, and where those leave more
than one frame, the answer says that it is not sure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from onceproof.report.story.recording import Exchange, Frame, Recording

# Attempts of one thing that are told: the first ones say what went wrong.
ATTEMPTS_MAX = 3
NEVER_NS = 2**63 - 1
# A frame that the proxy did this to never reached its other end.
NEVER_ARRIVED = ("drop", "answer", "disconnect")
NO_PRODUCER = -1


@dataclass(frozen=True, order=True)
class LogPlace:
    topic: str
    partition: int
    offset: int


@dataclass(frozen=True, kw_only=True)
class Fetched:
    """A Fetch that asked for a partition, and how far its answer reached there."""

    exchange: Exchange
    from_offset: int
    last_offset: int | None = None  # None: the recording does not tell
    moved_on_to: int | None = None  # where the same connection went on

    @property
    def answered_ns(self) -> int:
        return self.exchange.answered_ns

    def carries(self, offset: int) -> bool | None:
        """None: it may have."""
        if self.from_offset > offset:
            return False
        if self.last_offset is not None:
            return self.last_offset >= offset
        moved_past = self.moved_on_to is None or self.moved_on_to > offset
        return None if moved_past else False


def fetches_of(recording: Recording, topic: str, partition: int) -> list[Fetched]:
    """Those that were answered with something of the partition, or may have been.

    In a fetch session (KIP-227) a request names only what has changed: the rest is as it was.
    """
    asked: dict[tuple[int, int], int] = {}
    fetches: list[Fetched] = []
    for exchange in recording.of("Fetch"):
        line = (exchange.request.broker, exchange.request.connection)
        wanted = exchange.request.at(topic, partition)
        if wanted is not None and wanted.offset is not None:
            asked[line] = wanted.offset
        fetched = _answered(exchange, topic, partition, asked.get(line))
        if fetched is not None:
            fetches.append(fetched)
    return _with_next(fetches)


def _answered(
    exchange: Exchange, topic: str, partition: int, from_offset: int | None
) -> Fetched | None:
    response = exchange.response
    if response is None or from_offset is None or response.verdict in NEVER_ARRIVED:
        return None
    place = response.at(topic, partition)
    # An answer that names nothing is recorded with its request's places, which have an offset.
    if place is None or place.offset is not None or place.records == 0:
        return None
    if place.last_offset is None and response.error_code:
        return None
    return Fetched(exchange=exchange, from_offset=from_offset, last_offset=place.last_offset)


def _with_next(fetches: Sequence[Fetched]) -> list[Fetched]:
    following: dict[tuple[int, int], int] = {}
    linked = []
    for fetched in reversed(fetches):
        request = fetched.exchange.request
        line = (request.broker, request.connection)
        linked.append(
            Fetched(
                exchange=fetched.exchange,
                from_offset=fetched.from_offset,
                last_offset=fetched.last_offset,
                moved_on_to=following.get(line),
            )
        )
        following[line] = fetched.from_offset
    return linked[::-1]


def fetched_before(
    fetches: Iterable[Fetched], offset: int, reader: Frame, before_ns: int
) -> Fetched | None:
    """The last one to the same reader that brought the offset; else the last that may have."""
    own = [
        each
        for each in fetches
        if each.answered_ns <= before_ns and is_same_client(each.exchange.request, reader)
    ]
    sure = [each for each in own if each.carries(offset)]
    maybe = [each for each in own if each.carries(offset) is None]
    likeliest = sure or maybe
    return likeliest[-1] if likeliest else None


def is_same_client(one: Frame, other: Frame) -> bool:
    """By instance; a client of no known instance is told by its name."""
    if one.instance is not None or other.instance is not None:
        return one.instance == other.instance
    return one.client_id == other.client_id


def written_by(recording: Recording, place: LogPlace) -> Exchange | None:
    """The first Produce that was told to have written there (a repeated one is told the same)."""
    batch = recording.batch_at(place.partition, place.offset)
    base = None if batch is None else batch.base_offset
    return next(
        (each for each in recording.of("Produce") if _wrote(each, place, base)),
        None,
    )


def _wrote(exchange: Exchange, place: LogPlace, base: int | None) -> bool:
    response = exchange.response
    told = None if response is None else response.at(place.topic, place.partition)
    asked = exchange.request.at(place.topic, place.partition)
    if told is None or asked is None or told.offset is None or told.offset < 0:
        return False
    if base is not None:
        return told.offset == base
    count = records_of(exchange, place.topic, place.partition)
    return count is not None and told.offset <= place.offset < told.offset + count


def records_of(exchange: Exchange, topic: str, partition: int) -> int | None:
    """How many a Produce has for the partition. A frame's own count is that of its first batch."""
    asked = exchange.request.at(topic, partition)
    if asked is not None and asked.records is not None:
        return asked.records
    return exchange.request.records if len(exchange.request.places) == 1 else None


def attempts_before(recording: Recording, writing: Exchange) -> list[Exchange]:
    """The same batch, sent before. Only an idempotent producer's batches can be told to be same."""
    request = writing.request
    if request.producer_id in (None, NO_PRODUCER):
        return []
    same = [
        each
        for each in recording.of("Produce")
        if each.at_ns < writing.at_ns
        and _batch_name(each.request) == _batch_name(request)
        and {(place.topic, place.partition) for place in each.request.places}
        == {(place.topic, place.partition) for place in request.places}
    ]
    return same[:ATTEMPTS_MAX]


def _batch_name(request: Frame) -> tuple[int | None, int | None, int | None]:
    return request.producer_id, request.producer_epoch, request.first_sequence


def commits_past(
    recording: Recording, place: LogPlace, after_ns: int, until_ns: int = NEVER_NS
) -> list[Exchange]:
    """Each commit that moves the position on the partition past the offset, in order."""
    return [
        each
        for each in recording.of("OffsetCommit", "TxnOffsetCommit")
        if after_ns <= each.at_ns < until_ns
        and (asked := each.request.at(place.topic, place.partition)) is not None
        and (asked.offset or 0) > place.offset
    ]


def until_done(exchanges: Iterable[Exchange]) -> list[Exchange]:
    """The attempts, up to the first that was answered without an error."""
    told: list[Exchange] = []
    for exchange in exchanges:
        told.append(exchange)
        if exchange.error_code == 0 or len(told) == ATTEMPTS_MAX:
            break
    return told


def ends_of(recording: Recording, member: Frame) -> list[Exchange]:
    """What its own producer did to end the transaction that the frame belongs to.

    By when it was answered: an EndTxn of an earlier transaction that comes late ends this one.
    """
    asked = (
        each
        for each in recording.of("EndTxn")
        if each.answered_ns >= member.at_ns
        and each.request.producer_id == member.producer_id
        and each.request.producer_epoch == member.producer_epoch
    )
    return until_done(asked)


def successors_of(recording: Recording, member: Frame, until_ns: int) -> list[Exchange]:
    """InitProducerId of the same transactional id after the frame: each ends what it finds open."""
    if member.transactional_id is None:
        return []
    begun = [
        each
        for each in recording.of("InitProducerId")
        if member.at_ns < each.at_ns <= until_ns
        and each.request.transactional_id == member.transactional_id
    ]
    return until_done(begun)


def marker_request(
    recording: Recording, member: Frame, place: LogPlace, *, committed: bool
) -> Exchange | None:
    """Where the brokers' own connections are recorded: the coordinator's word to the leader."""
    return next(
        (
            each
            for each in recording.of("WriteTxnMarkers")
            if each.at_ns >= member.at_ns
            and each.request.producer_id == member.producer_id
            and each.request.committed in (None, committed)
            and each.request.at(place.topic, place.partition) is not None
        ),
        None,
    )


def position_given(
    recording: Recording, topic: str, partition: int, reader: Frame, between_ns: tuple[int, int]
) -> Exchange | None:
    """The last OffsetFetch answered to the reader: where it was told to begin."""
    after_ns, before_ns = between_ns
    answers = [
        each
        for each in recording.of("OffsetFetch")
        if each.response is not None
        and after_ns <= each.answered_ns <= before_ns
        and is_same_client(each.request, reader)
        and (place := each.response.at(topic, partition)) is not None
        and place.offset is not None
    ]
    return answers[-1] if answers else None
