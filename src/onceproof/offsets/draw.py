"""A view for a terminal: one line and one bar for each partition, and what stands behind them."""

from collections.abc import Iterator

from onceproof.cluster.transactions import NamedTransaction
from onceproof.offsets.view import GroupPlace, OffsetsView, PartitionOffsets

BAR_WIDTH = 30
READ, UNREAD, HELD_BACK = "#", "=", "?"
NOTHING = "-"
GAP = 2
LEGEND = (
    f"{READ} behind the position   {UNREAD} up to the LSO, where read_committed readers stop"
    f"   {HELD_BACK} from there to the HWM"
)
COLUMNS = (
    "partition",
    "log",
    "start",
    "position",
    "LSO",
    "HWM",
    "LEO by broker",
    "lag rc",
    "lag ru",
    "last record",
    "committed",
    "control",
)


def draw(view: OffsetsView, now_ms: int) -> str:
    lines = [] if view.group is None else [_place(view.group), ""]
    gone = [f"{name}: deleted; the group still has positions there" for name in view.gone]
    if not view.partitions:
        return "\n".join([*lines, "no partition to tell of", *gone])
    lines += _table([list(COLUMNS), *map(_row, view.partitions)])
    lines += ["", LEGEND, "lag rc: LSO − position; lag ru: HWM − position; last record: of data"]
    notes = [note for each in view.partitions for note in _notes(each, now_ms)] + gone
    return "\n".join([*lines, *([""] if notes else []), *notes])


def _place(place: GroupPlace) -> str:
    log = f"__consumer_offsets-{place.log_partition} (of {place.log_partitions})"
    leads = f"led by broker {place.log_leader}"
    answers = f"broker {place.coordinator} answers for it"
    moves = "" if place.agrees else ": they differ, the coordinator is moving"
    return f"group {place.group} ({place.state}): {log}, {leads}; {answers}{moves}"


def _row(each: PartitionOffsets) -> list[str]:
    return [
        f"{each.topic}-{each.partition}",
        f"[{bar(each)}]",
        str(each.log_start),
        _number(each.position),
        str(each.lso),
        str(each.hwm),
        _ends(each),
        _number(each.lag_read_committed),
        _number(each.lag_read_uncommitted),
        _number(each.tail.last_record),
        _number(each.tail.last_committed),
        f"{each.tail.control_records} since {each.tail.begin}",
    ]


def _number(value: int | None) -> str:
    return NOTHING if value is None else str(value)


def _ends(each: PartitionOffsets) -> str:
    """`1:40* 2:40 3:38!`: the leader is starred, one out of sync has an exclamation mark."""
    return " ".join(
        f"{replica.broker}:{_number(replica.leo)}"
        f"{'*' if replica.broker == each.leader else ''}{'' if replica.in_sync else '!'}"
        for replica in each.replicas
    )


def bar(each: PartitionOffsets) -> str:
    """From the log's start to the HWM; whatever is not empty gets at least one cell."""
    whole = each.hwm - each.log_start
    if whole <= 0:
        return " " * BAR_WIDTH
    position = each.log_start if each.position is None else max(each.position, each.log_start)
    held = _cells(each.hwm - max(each.lso, position), whole)
    unread = _cells(each.lso - position, whole)
    read = max(0, BAR_WIDTH - held - unread)
    return (READ * read + UNREAD * unread + HELD_BACK * held)[-BAR_WIDTH:]


def _cells(part: int, whole: int) -> int:
    return 0 if part <= 0 else max(1, round(BAR_WIDTH * part / whole))


def _notes(each: PartitionOffsets, now_ms: int) -> Iterator[str]:
    where = f"{each.topic}-{each.partition}"
    for transaction in each.open_transactions:
        pins = "pins the LSO at" if transaction in each.pins else "is open from"
        yield f"{where}: {_told(transaction, now_ms)} {pins} {transaction.start_offset}"
    if each.lag_read_committed and each.has_unread is False:
        yield (
            f"{where}: a lag of {each.lag_read_committed}, and nothing to read: control records"
            " and aborted ones take offsets, too"
        )
    if each.deleted_unread:
        yield f"{where}: {each.deleted_unread} offsets were deleted before the group read them"


def _told(transaction: NamedTransaction, now_ms: int) -> str:
    name = transaction.transactional_id
    who = f"producer {transaction.producer_id} epoch {transaction.epoch}"
    told = f"transaction of {who}" if name is None else f"transaction {name!r} ({who})"
    if transaction.started_ms is None or transaction.timeout_ms is None:
        return told
    age_s = max(0.0, (now_ms - transaction.started_ms) / 1000)
    return f"{told}, open for {age_s:.0f} s of at most {transaction.timeout_ms / 1000:.0f} s,"


def _table(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) + GAP for column in zip(*rows, strict=True)]
    return [
        "".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
