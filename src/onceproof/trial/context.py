"""Puts each witness into the run: when its record was written, which fault came before, and what
a suspect that stands still says of it itself.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from onceproof.cluster import rawlog
from onceproof.errors import ClusterError
from onceproof.history.event import Event
from onceproof.history.fault_record import FaultRecord
from onceproof.history.finding import Finding, Witness
from onceproof.trial.stage import Stage

EXCEPTION = re.compile(r"(\w+Exception)\b.*")
EXCEPTIONS_TOLD_MAX = 3
LINE_TOLD_MAX = 200


def with_own_words(findings: Iterable[Finding], events: Sequence[Event]) -> list[Finding]:
    """The same findings; one that nothing moved also says which exceptions were logged then. Pure.

    `events`: up to where the suspect was asked to end. What it says after that is our doing.
    """
    return [
        replace(finding, witnesses=tuple(_in_own_words(each, events) for each in finding.witnesses))
        for finding in findings
    ]


def _in_own_words(witness: Witness, events: Sequence[Event]) -> Witness:
    since_s = witness.facts.get("since_s")
    if since_s is None:
        return witness
    logged: dict[str, str] = {}
    for event in events:
        said = EXCEPTION.search(event.detail.get("text", "")) if event.kind == "note" else None
        if said is not None and event.at_s >= since_s:
            text = f"at {event.at_s:.1f} s {event.subject} logged {said.group()[:LINE_TOLD_MAX]}"
            logged.setdefault(said.group(1), text)
    told = "; ".join(list(logged.values())[:EXCEPTIONS_TOLD_MAX])
    sentence = f"{witness.sentence} Then {told}" if told else witness.sentence
    return Witness(sentence=sentence, facts={**witness.facts, "exceptions": list(logged)})


def with_faults(
    stage: Stage, findings: Sequence[Finding], faults: Sequence[FaultRecord]
) -> tuple[Finding, ...]:
    """The same findings; each witness with a place also says what had just been done."""
    applied = [fault for fault in faults if fault.applied]
    return tuple(
        replace(
            finding,
            witnesses=tuple(_placed(stage, witness, applied) for witness in finding.witnesses),
        )
        for finding in findings
    )


def _placed(stage: Stage, witness: Witness, applied: Sequence[FaultRecord]) -> Witness:
    at_s = _written_at(stage, witness)
    if at_s is None:
        return witness
    before = [fault for fault in applied if fault.at_s <= at_s]
    told = witness.sentence
    if before:
        last = max(before, key=lambda fault: fault.at_s)
        told += (
            f" It was written {at_s - last.at_s:.1f} s after {last.action}({last.target}),"
            f" {at_s:.1f} s into the run."
        )
    return Witness(sentence=told, facts={**witness.facts, "at_s": round(at_s, 3)})


def _written_at(stage: Stage, witness: Witness) -> float | None:
    """By the record's own timestamp; None where the witness names no record of a topic."""
    facts = witness.facts
    if not {"topic", "partition", "offset"} <= set(facts):
        return None
    try:
        record = rawlog.read_record(
            stage.client, facts["topic"], facts["partition"], facts["offset"]
        )
    except ClusterError:
        return None  # the cross-check, which reads it too, has said so
    return None if record is None else record.timestamp_ms / 1000 - stage.events.began_at
