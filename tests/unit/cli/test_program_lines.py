"""A program is shown as those who wrote it know it: program counter, instance, BROKEN lines."""

from onceproof.cli.display import Picture
from onceproof.faults.toggle import STARTED
from onceproof.history.event import Event
from onceproof.trial.planning.plan import make_plan
from onceproof.trial.planning.request import Request


def event(kind: str, subject: str, **detail: str) -> Event:
    return Event(at_s=1.0, kind=kind, subject=subject, detail=detail)


def toggled(subject: str, evidence: str, applied: str = "true") -> Event:
    return event("fault", subject, action="toggle", applied=applied, evidence=evidence)


def lines_of(*events: Event) -> list[str]:
    picture = Picture(make_plan(Request(scenario="kafka_14624_stale_cache")))
    lines = []
    for each in events:
        picture.take(each)
        lines.append(picture.told(each))
    return [line for line in lines if line is not None]


def test_toggles_and_what_the_instances_find() -> None:
    healed = event("healed", "instance 2", action="toggle")
    stale = {"event": "stale", "expected": "58", "found": "31", "partition": "3"}
    assert lines_of(
        toggled("instance 1", STARTED),
        toggled("instance 2", STARTED),
        healed,
        event("said", "instance 2", **stale),
        toggled("instance 1", "SIGTERM; it ended by itself, and stays away"),
        event("said", "instance 2", event="committed"),
    ) == [
        "[0] starting instance +1",
        "[1] starting instance +2",
        "[1]!!! BROKEN !!! Expected 58 but found 31 partition: 3",
        "[2] stopping instance -1",
    ]


def test_a_toggle_that_did_not_apply_says_so() -> None:
    (line,) = lines_of(toggled("instance 1", "it was killed", applied="false"))
    assert line == "fault: toggle instance 1 DID NOT APPLY: it was killed"
