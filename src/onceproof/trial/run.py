"""One trial from start to verdict. The outermost guard: whatever breaks in here is never HELD."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from onceproof.checks.catalog import CHECKS
from onceproof.errors import UsageError
from onceproof.history.event import Event, EventLog
from onceproof.history.fault_record import FaultRecord
from onceproof.history.finding import Finding
from onceproof.history.run_directory import RunDirectory
from onceproof.history.verdict import TrialResult
from onceproof.machine import check_machine
from onceproof.report.write import write_reports
from onceproof.trial.about import add_judgement, versions, write_run_json
from onceproof.trial.between import BetweenJudge
from onceproof.trial.context import with_faults
from onceproof.trial.crosscheck import disagreements
from onceproof.trial.decide import Evidence, decide
from onceproof.trial.drain import DrainEnd, catch_up, settle
from onceproof.trial.feed import Feed
from onceproof.trial.ground import Ground
from onceproof.trial.judge import CaseFacts, Judged, judge_run
from onceproof.trial.live import end_live_validator, start_live_validator
from onceproof.trial.plan import Plan
from onceproof.trial.provision import provision
from onceproof.trial.readback import read_back
from onceproof.trial.spark import JudgeSpark
from onceproof.trial.stage import Stage
from onceproof.trial.strike import Striker
from onceproof.trial.watch import EarlyFinding, SuspectDied, Watch


@dataclass
class Course:
    """What has happened so far; filled as the trial goes on, so that a break loses nothing."""

    faults: list[FaultRecord] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    no_truth: list[str] = field(default_factory=list)
    iterations: int = 0
    judged: Judged | None = None
    frames: Mapping[str, int] = field(default_factory=dict)  # at the proxy
    findings: tuple[Finding, ...] = ()


def run_trial(
    plan: Plan,
    listener: Callable[[Event], None] | None = None,
    spark: JudgeSpark | None = None,
    ground: Ground | None = None,
) -> tuple[TrialResult, RunDirectory]:
    """Carry the plan out; the result, and the directory that holds everything.

    `spark`, `ground`: a session to judge with, and brokers to run on, for those who run many
    trials; they are not ended here.
    """
    _ensure_folder(plan)
    check_machine(plan.runs_dir)
    directory = RunDirectory.create(plan.runs_dir, plan.scenario.name, plan.seed)
    events = EventLog(directory.events, listener)
    course = Course()
    write_run_json(directory, plan, events.began_at)
    try:
        provision(plan, events)
        with Stage(plan, directory, events, spark, ground) as stage:
            stage.open()
            try:
                _conduct(stage, course)
            except Exception as problem:  # noqa: BLE001 - the trial's outermost guard: never HELD
                told = f"{type(problem).__name__}: {problem}".partition("\n")[0]
                course.doubts.append(f"the trial could not be carried through: {told}")
            events.write("phase", "end")
            result = _result(plan, course, events.now_s())
            result.save(directory.verdict_json)
    finally:
        events.close()
    write_reports(directory)
    return result, directory


def _ensure_folder(plan: Plan) -> None:
    try:
        plan.runs_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--runs-dir {plan.runs_dir} cannot be used: {error}") from error


def _conduct(stage: Stage, course: Course) -> None:
    """Iterations of feed, fault, drain, judge; the last judgement, on a settled output, counts."""
    live = start_live_validator(stage) if stage.plan.scenario.watches_live() else None
    between = BetweenJudge(stage, _facts(stage, settled=True))
    watch = Watch(stage, lambda: live is not None and live.finding() is not None)
    watch.sample()
    try:
        end = _loop(stage, watch, between, course)
    except SuspectDied as death:
        end = DrainEnd.SLOW
        course.doubts.append(f"the run ended early: {death}")
    except EarlyFinding:
        end = DrainEnd.SLOW
        course.doubts.append("the run ended early: the live validator had found something")
        stage.events.write("note", "live validator", text="found something: the loop stops here")
    between.finish()
    if live is not None:
        end_live_validator(stage, live)
    _judge_in_the_end(stage, course, end)
    if between.is_broken() and not course.findings:
        course.doubts.append("a judgement between iterations had findings that are gone now")


def _loop(stage: Stage, watch: Watch, between: BetweenJudge, course: Course) -> DrainEnd:
    end = DrainEnd.SLOW
    for number, bounds in enumerate(stage.plan.slices(), start=1):
        end = _iterate(stage, watch, course, number, bounds)
        between.finish()
        if end is not DrainEnd.CAUGHT_UP or between.is_broken():
            break
        if number < stage.plan.scenario.iterations and settle(stage, watch):
            between.start(number, watch.position())
    return end


def _iterate(
    stage: Stage, watch: Watch, course: Course, number: int, bounds: tuple[int, int]
) -> DrainEnd:
    stage.events.write("iteration", str(number))
    stage.events.write("phase", "feed")
    course.iterations = number
    feed = Feed(stage, *bounds)
    feed.start()
    try:
        striker = Striker(stage, watch, feed, number, course.faults)
        for step in stage.plan.schedule:
            striker.strike(step)
        stage.events.write("phase", "drain")
        return catch_up(stage, watch, feed)
    finally:
        feed.close()


def _judge_in_the_end(stage: Stage, course: Course, end: DrainEnd) -> None:
    stage.events.write("phase", "judge")
    stage.stop_instances()
    course.frames = stage.frames_seen()
    course.doubts += stage.wire_troubles()
    watch = Watch(stage)
    stable = settle(stage, watch)
    position = watch.position()
    watch.sample()
    is_short = end is DrainEnd.CAUGHT_UP and not watch.last.caught_up()
    facts = _facts(stage, settled=stable and end is not DrainEnd.SLOW)
    if not stable:
        # What a transaction hides is not lost; nothing can be said of it.
        facts = replace(facts, checks=tuple(name for name in facts.checks if name != "lost"))
        course.doubts.append("a transaction stays open on the output topic")
    read_back(stage, position, whole_log=True)
    judged = course.judged = judge_run(stage.spark, stage.directory, facts)
    # A suspect that keeps no position is done when all has come out that could.
    if is_short or not (end is DrainEnd.CAUGHT_UP or judged.is_complete):
        course.doubts.append(
            f"the output did not drain: the suspect was {end.value} before its end"
        )
    for check, why in judged.judgement.unknown.items():
        course.doubts.append(f"check {check} could not be carried out: {why}")
    course.no_truth += judged.input_flaws
    course.no_truth += disagreements(stage, judged)
    course.findings = with_faults(stage, judged.judgement.findings, course.faults)
    add_judgement(stage.directory, facts, course.doubts, course.no_truth)


def _facts(stage: Stage, *, settled: bool) -> CaseFacts:
    plan = stage.plan
    return CaseFacts(
        workload=plan.scenario.workload,
        transactional=plan.suspect.transactional,
        checks=plan.scenario.checks or tuple(CHECKS),
        stuck_after_s=plan.scenario.stuck_after_s,
        settled=settled,
        offsets_in_group=plan.suspect.offsets_in_group,
        began_at_s=stage.events.began_at,
    )


def frame_counts(seen: Mapping[str, int]) -> dict[str, int]:
    """By the names they have in verdict.json."""
    names = {"recorded": "frames", "undecoded": "frames_undecoded"}
    return {names[name]: count for name, count in seen.items()}


def _result(plan: Plan, course: Course, duration_s: float) -> TrialResult:
    judged = course.judged
    counts = {**(judged.counts if judged else {}), **frame_counts(course.frames)}
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
