"""Traps in a client's own settings (`--client-config`): Java's names, and librdkafka's."""

from collections.abc import Iterator, Mapping, Sequence

from onceproof.doctor.diagnosis import Diagnosis
from onceproof.errors import UsageError

LATE_REQUEST, DIRTY_READ = "request-outlasts-poll", "reads-uncommitted"
POLL, POLL_MS = "max.poll.interval.ms", 300_000
# Java's defaults. A call may take that long inside of a callback, which is time between two polls.
WAITS_MS = {"request.timeout.ms": 30_000, "default.api.timeout.ms": 60_000}
ISOLATION, COMMITTED = "isolation.level", "read_committed"
SUBJECT = "client settings"


def late_requests(settings: Mapping[str, str]) -> Iterator[Diagnosis]:
    """Only of what the file sets: the defaults go together."""
    poll_ms = _number(settings, POLL, POLL_MS)
    for name, default_ms in WAITS_MS.items():
        wait_ms = _number(settings, name, default_ms)
        if wait_ms >= poll_ms:
            yield Diagnosis(
                kind=LATE_REQUEST,
                subject=SUBJECT,
                seen=(
                    f"{name}={wait_ms} and {POLL}={poll_ms}: one request that is not answered,"
                    " such as a look-up in the assignment callback, outlasts the poll interval;"
                    " the member is put out of its group"
                ),
                cure=f"{name} below {POLL}, by what the work between two polls takes",
            )


def dirty_reads(
    settings: Mapping[str, str], transactional_topics: Sequence[str]
) -> Iterator[Diagnosis]:
    level = settings.get(ISOLATION)
    if level == COMMITTED or not transactional_topics:
        return
    what = f"{ISOLATION}={level}" if level else f"{ISOLATION} is not set"
    default = "" if level else " (Java's default is read_uncommitted, librdkafka's the other)"
    yield Diagnosis(
        kind=DIRTY_READ,
        subject=SUBJECT,
        seen=(
            f"{what}{default}, and {', '.join(transactional_topics)} is written in transactions:"
            " records that are aborted later are read, too"
        ),
        cure=f"{ISOLATION}={COMMITTED}",
    )


def _number(settings: Mapping[str, str], name: str, otherwise: int) -> int:
    text = settings.get(name, str(otherwise))
    if not text.isdigit():
        raise UsageError(f"--client-config: {name} must be a number of milliseconds; got {text!r}")
    return int(text)
