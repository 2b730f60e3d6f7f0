"""One trial from start to verdict. The outermost guard: whatever breaks in here is never HELD."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onceproof.checks.catalog import CHECKS
from onceproof.errors import OnceproofError
from onceproof.history.event import Event, EventLog
from onceproof.history.fault_record import FaultRecord
from onceproof.history.finding import Finding
from onceproof.history.run_directory import RunDirectory
from onceproof.history.verdict import TrialResult
from onceproof.machine import check_machine
from onceproof.report.write import write_reports
from onceproof.trial.about import versions, write_run_json
from onceproof.trial.between import BetweenJudge
from onceproof.trial.context import with_faults
from onceproof.trial.crosscheck import disagreements
from onceproof.trial.decide import Evidence, decide
from onceproof.trial.drain import DrainEnd, catch_up, settle
from onceproof.trial.feed import Feed
from onceproof.trial.judge import CaseFacts, Judged, judge_run
from onceproof.trial.live import start_live_validator
from onceproof.trial.plan import Plan
from onceproof.trial.provision import provision
from onceproof.trial.readback import read_back
from onceproof.trial.spark import JudgeSpark
from onceproof.trial.stage import Stage
from onceproof.trial.strike import Striker
from onceproof.trial.watch import EarlyFinding, SuspectDied, Watch

if TYPE_CHECKING:
    from onceproof.checks.live import LiveValidator


@dataclass
class Course:
    """What has happened so far; filled as the trial goes on, so that a break loses nothing."""

    faults: list[FaultRecord] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    no_truth: list[str] = field(default_factory=list)
    iterations: int = 0
    fed_expected: int = 0
    ended_early: bool = False
    judged: Judged | None = None
    findings: tuple[Finding, ...] = ()


def run_trial(
    plan: Plan,
    listener: Callable[[Event], None] | None = None,
    spark: JudgeSpark | None = None,
) -> tuple[TrialResult, RunDirectory]:
    """Carry the plan out; the result, and the directory that holds everything.

    `spark`: a session to judge with, for those who run many trials; it is not ended here.
    """
    plan.runs_dir.mkdir(parents=True, exist_ok=True)
    check_machine(plan.runs_dir)
    directory = RunDirectory.create(plan.runs_dir, plan.scenario.name, plan.seed)
    events = EventLog(directory.events, listener)
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    write_run_json(directory, plan, _facts(plan, settled=True), started)
    course = Course()
    try:
        provision(plan, events)
        with Stage(plan, directory, events, spark) as stage:
            stage.open()
            try:
                _conduct(stage, course)
            except OnceproofError as problem:
                course.doubts.append(f"the trial could not be carried through: {problem}")
            events.write("phase", "end")
        result = _result(plan, course, events.now_s())
    finally:
        events.close()
    result.save(directory.verdict_json)
    write_reports(directory)
    return result, directory


def _conduct(stage: Stage, course: Course) -> None:
    """Iterations of feed, fault, drain, judge; the last judgement, on a settled output, counts."""
    scenario = stage.plan.scenario
    live = start_live_validator(stage) if scenario.watches_live() else None
    watch = Watch(stage, lambda: live is not None and live.finding() is not None)
    watch.sample()
    end = DrainEnd.SLOW
    between = BetweenJudge(stage, _facts(stage.plan, settled=True))
    try:
        stage.start_instances()
        for number, bounds in enumerate(stage.plan.slices(), start=1):
            end = _iterate(stage, watch, course, number, bounds)
            if end is not DrainEnd.CAUGHT_UP or between.is_broken():
                break
            if number < scenario.iterations:
                between.start(number, watch.position())
    except SuspectDied:
        course.ended_early = True  # the check `died` tells it from the events
    except EarlyFinding:
        course.ended_early = True
        stage.events.write("note", "live validator", text="found something: the loop stops here")
    finally:
        between.is_broken()
        if live is not None:
            _end_live(stage, live)
    watch = Watch(stage)
    _judge_in_the_end(stage, watch, course, end)


def _end_live(stage: Stage, live: "LiveValidator") -> None:
    """It only helps to stop early: that it broke down is noted, and changes no verdict."""
    crash = live.crash()
    live.stop()
    if crash is not None:
        stage.events.write("note", "live validator", text=f"broke down: {crash}")


def _iterate(
    stage: Stage, watch: Watch, course: Course, number: int, bounds: tuple[int, int]
) -> DrainEnd:
    stage.events.write("iteration", str(number))
    stage.events.write("phase", "feed")
    feed = Feed(stage, *bounds)
    feed.start()
    course.fed_expected += feed.records
    try:
        striker = Striker(stage, watch, feed, number)
        for step in stage.plan.schedule:
            course.faults.append(striker.strike(step))
        stage.events.write("phase", "drain")
        end = catch_up(stage, watch, feed)
    finally:
        feed.close()
    course.iterations = number
    return end


def _judge_in_the_end(stage: Stage, watch: Watch, course: Course, end: DrainEnd) -> None:
    stage.events.write("phase", "judge")
    stage.stop_instances()
    settled = settle(stage, watch)
    position = watch.position()
    facts = _facts(stage.plan, settled=settled and end is not DrainEnd.SLOW)
    read_back(stage, position, whole_log=True)
    course.judged = judge_run(stage.spark, stage.directory, facts)
    course.no_truth += course.judged.input_flaws
    course.no_truth += disagreements(stage, course.judged)
    course.findings = with_faults(stage, course.judged.judgement.findings, course.faults)
    course.doubts += _doubts(course, end, settled=settled)


def _doubts(course: Course, end: DrainEnd, *, settled: bool) -> list[str]:
    doubts = []
    if not course.ended_early and end is not DrainEnd.CAUGHT_UP:
        doubts.append(f"the output did not drain: the suspect was {end.value}")
    if not settled:
        doubts.append("a transaction stays open on the output topic")
    assert course.judged is not None
    for check, why in course.judged.judgement.unknown.items():
        doubts.append(f"check {check} could not be carried out: {why}")
    return doubts


def _facts(plan: Plan, *, settled: bool) -> CaseFacts:
    return CaseFacts(
        workload=plan.scenario.workload,
        transactional=plan.suspect.transactional,
        checks=plan.scenario.checks or tuple(CHECKS),
        stuck_after_s=plan.scenario.stuck_after_s,
        settled=settled,
    )


def _result(plan: Plan, course: Course, duration_s: float) -> TrialResult:
    judged = course.judged
    counts = judged.counts if judged else {}
    verdict, reasons = decide(
        Evidence(
            findings=course.findings,
            faults=course.faults,
            faults_scheduled=len(plan.schedule) * plan.scenario.iterations,
            fed=counts.get("input", 0),
            fed_expected=plan.input.records,
            output=counts.get("output_committed", 0),
            doubts=course.doubts,
            no_truth=course.no_truth,
        )
    )
    return TrialResult(
        scenario=plan.scenario.name,
        suspect=plan.suspect.name,
        workload=plan.scenario.workload,
        seed=plan.seed,
        verdict=verdict,
        reasons=reasons,
        counts=counts,
        findings=course.findings,
        faults=tuple(course.faults),
        versions=versions(plan),
        duration_s=duration_s,
        iterations=course.iterations,
        repeat=plan.repeat,
    )
