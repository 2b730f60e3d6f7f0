"""The steps of a story in their order, the faults among them, and no more than a person reads.

    13.912 s  broker 1 → instance 0  Fetch brought in-0@380 to 420
    13.950 s  instance 0 → broker 2  Produce of 41 records to out-0: written at out-0@398 to 438
    14.000 s  faults → instance 0    fault 1: kill instance 0

Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from onceproof.history.fault_record import FaultRecord
from onceproof.report.story import words
from onceproof.report.story.recording import Exchange
from onceproof.report.timeline import PROCESS_NAME

STEPS_MAX = 25
FAULTS_MAX = 6
FAULTS_LANE = "faults"
LOG_LANE = "log"
# A fault this long before the first frame may still be what it answers to.
AROUND_S = 2.0
SECOND_NS = 1_000_000_000
FAULT_WEIGHT = 4
HEALED_WEIGHT = 1


@dataclass(frozen=True, kw_only=True)
class Step:
    at_s: float | None = None  # None: the log tells that it happened, not when
    lane: str
    to: str = ""  # the lane it leads to, if any
    what: str
    detail: str = ""  # more than a line has room for
    is_fault: bool = False
    is_sure: bool = True
    is_answered: bool = False  # a request and its answer in one


@dataclass(frozen=True, kw_only=True)
class Story:
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()  # what is not known
    names: Mapping[str, str] = field(default_factory=dict)  # what a short name stands for

    def lanes(self) -> list[str]:
        """Clients, then brokers, then the faults."""
        seen = {lane for step in self.steps for lane in (step.lane, step.to) if lane}
        return sorted(seen, key=_lane_order)


def _lane_order(name: str) -> tuple[int, str, int]:
    word, _, number = name.partition(" ")
    rank = {"instance": 0, "broker": 2, LOG_LANE: 3, FAULTS_LANE: 4}.get(word, 1)
    return rank, word if number.isdigit() else name, int(number) if number.isdigit() else 0


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A step whose place in the story is not fixed yet."""

    at_ns: int
    step: Step
    weight: int  # the lightest are left out first
    asks: Exchange | None = None  # it is the request of this exchange
    answers: Exchange | None = None  # it is the response of this exchange
    is_timed: bool = True


def in_order(
    drafts: Sequence[Draft], faults: Sequence[FaultRecord], began_ns: int
) -> tuple[tuple[Step, ...], int]:
    """The steps, and how many more there would have been."""
    around = _faults_around(drafts, faults, began_ns)
    ordered = sorted([*drafts, *around], key=lambda draft: (draft.at_ns, not draft.is_timed))
    joined = _joined(ordered)
    kept = _heaviest(joined)
    return tuple(_placed(draft, began_ns) for draft in kept), len(joined) - len(kept)


def _placed(draft: Draft, began_ns: int) -> Step:
    at_s = (draft.at_ns - began_ns) / SECOND_NS if draft.is_timed else None
    return replace(draft.step, at_s=at_s)


def _faults_around(
    drafts: Sequence[Draft], faults: Sequence[FaultRecord], began_ns: int
) -> list[Draft]:
    """Those applied, and in force while the record was on its way, or just before."""
    moments = [(draft.at_ns - began_ns) / SECOND_NS for draft in drafts if draft.is_timed]
    if not moments:
        return []
    begin_s, end_s = min(moments) - AROUND_S, max(moments) + AROUND_S
    near = [
        (number, fault)
        for number, fault in enumerate(faults, start=1)
        if fault.applied
        and fault.at_s <= end_s
        and begin_s <= (fault.at_s if fault.healed_at_s is None else fault.healed_at_s)
    ]
    found: list[Draft] = []
    for number, fault in near[:FAULTS_MAX]:
        found.append(_fault_draft(fault, fault.at_s, f"fault {number}: ", began_ns))
        if fault.healed_at_s is not None and fault.healed_at_s <= end_s:
            found.append(
                _fault_draft(fault, fault.healed_at_s, f"fault {number} healed: ", began_ns)
            )
    return found


def _fault_draft(fault: FaultRecord, at_s: float, told: str, began_ns: int) -> Draft:
    process, is_begin = PROCESS_NAME.match(fault.target), at_s == fault.at_s
    step = Step(
        lane=FAULTS_LANE,
        to=process.group() if process else "",
        what=f"{told}{fault.action} {fault.target}",
        detail=fault.evidence,
        is_fault=is_begin,
    )
    weight = FAULT_WEIGHT if is_begin else HEALED_WEIGHT
    return Draft(at_ns=began_ns + round(at_s * SECOND_NS), step=step, weight=weight)


def _joined(ordered: Sequence[Draft]) -> list[Draft]:
    """A request and its answer are one step, unless something lies between or befell them."""
    joined: list[Draft] = []
    for draft in ordered:
        before = joined[-1] if joined else None
        if draft.answers is None:
            joined.append(draft)
        elif before is not None and before.asks is draft.answers and _is_plain(draft.answers):
            what = f"{before.step.what}: {draft.step.what}"
            joined[-1] = replace(before, step=replace(before.step, what=what, is_answered=True))
        else:
            told = words.answer_to(draft.answers, draft.step.what)
            joined.append(replace(draft, step=replace(draft.step, what=told)))
    return joined


def _is_plain(exchange: Exchange) -> bool:
    response = exchange.response
    return exchange.request.verdict is None and response is not None and response.verdict is None


def _heaviest(drafts: Sequence[Draft]) -> list[Draft]:
    """At most STEPS_MAX; of equal weight, the later ones go first."""
    by_weight = sorted(range(len(drafts)), key=lambda place: (-drafts[place].weight, place))
    return [drafts[place] for place in sorted(by_weight[:STEPS_MAX])]
