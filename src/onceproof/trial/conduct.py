"""What happens on the stage of a trial: iterations of feed, fault and drain; then the judgement."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from onceproof.checks.catalog import CHECKS
from onceproof.history.event import SETTLE, read_events, while_it_ran
from onceproof.history.fault_record import FaultRecord
from onceproof.history.finding import Finding
from onceproof.history.point import Point
from onceproof.trial.between import BetweenJudge
from onceproof.trial.context import with_faults, with_own_words
from onceproof.trial.drain import catch_up, look_on, settle
from onceproof.trial.feed import Feed
from onceproof.trial.judging.crosscheck import RawLog, disagreements
from onceproof.trial.judging.judge import CaseFacts, Judged, judge_run
from onceproof.trial.judging.seen import unseen, unthrottled
from onceproof.trial.judging.small import settings_if_small
from onceproof.trial.judging.standing import DrainEnd, Standing, checks_that_count, doubts_of
from onceproof.trial.live import end_live_validator, start_live_validator
from onceproof.trial.moments.strike import Striker
from onceproof.trial.pour import pour_results
from onceproof.trial.readback import read_back
from onceproof.trial.stage import Stage
from onceproof.trial.watch import EarlyFinding, SuspectDied, Watch


@dataclass
class Course:
    """What has happened so far; filled as the trial goes on, so that a break loses nothing."""

    faults: list[FaultRecord] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    no_truth: list[str] = field(default_factory=list)
    iterations: int = 0
    judged: Judged | None = None
    facts: CaseFacts | None = None  # by which it was judged, to the end
    frames: Mapping[str, int] = field(default_factory=dict)  # at the proxy
    findings: tuple[Finding, ...] = ()
    points: tuple[Point, ...] = ()


def conduct(stage: Stage, course: Course) -> Standing:
    """Iterations of feed, fault, drain; how everything stands when nothing moves any more."""
    live = start_live_validator(stage) if stage.plan.scenario.watches_live() else None
    between = BetweenJudge(stage, _facts(stage, settled=True))
    watch = Watch(stage, lambda: live is not None and live.finding() is not None)
    watch.sample()
    try:
        end = _loop(stage, watch, between, course)
        if end is DrainEnd.STUCK:
            look_on(stage, watch)
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
    return _stand_still(stage, course, end, was_broken=between.is_broken())


def _loop(stage: Stage, watch: Watch, between: BetweenJudge, course: Course) -> DrainEnd:
    end = DrainEnd.SLOW
    for number, bounds in enumerate(stage.plan.slices(), start=1):
        end = _iterate(stage, watch, course, number, bounds)
        between.finish()
        if end is not DrainEnd.CAUGHT_UP or between.is_broken():
            break
        is_last = number == stage.plan.scenario.iterations
        # What is in a table is poured into the output only in the end.
        if not is_last and stage.table is None and settle(stage, watch):
            between.start(number, watch.position())
    return end


def _iterate(
    stage: Stage, watch: Watch, course: Course, number: int, bounds: tuple[int, int]
) -> DrainEnd:
    stage.events.write("iteration", str(number))
    stage.events.write("phase", "feed")
    course.iterations = number
    feed = Feed(stage, *bounds)
    striker = Striker(stage, watch, feed, number, course.faults)
    steps = [step for step in stage.plan.schedule if step.belongs_to(number)]
    for step in (each for each in steps if each.at.start):
        striker.strike(step)
    feed.start()
    striker.moments.begin()
    try:
        for step in (each for each in steps if not each.at.start):
            striker.strike(step, is_last=step is steps[-1])
        feed.release()
        striker.heal_all()
        stage.events.write("phase", "drain")
        return catch_up(stage, watch, feed)
    finally:
        feed.close()


def _stand_still(stage: Stage, course: Course, end: DrainEnd, *, was_broken: bool) -> Standing:
    stage.events.write("phase", SETTLE)
    stage.stop_instances()
    pour_results(stage)
    course.frames = stage.frames_seen()
    course.doubts += stage.wire_troubles()
    course.doubts += unseen(stage.plan.scenario.seen, read_events(stage.directory.events))
    course.doubts += _unmet_quota(stage)
    watch = Watch(stage)
    stable = settle(stage, watch)
    position = watch.position()
    watch.sample()
    return Standing(
        end=end,
        stable=stable,
        position=position,
        is_short=end is DrainEnd.CAUGHT_UP and not watch.last.caught_up(),
        was_broken=was_broken,
    )


def _unmet_quota(stage: Stage) -> list[str]:
    from onceproof.history.produced import read_produced

    byte_rate = stage.plan.scenario.producer_byte_rate
    if byte_rate is None:
        return []
    began = {"started_unix_s": stage.events.began_at}
    return unthrottled(read_produced(began, stage.directory.history), byte_rate)


def judge_standing(stage: Stage, course: Course, standing: Standing) -> None:
    """On a settled output: this judgement counts."""
    stage.events.write("phase", "judge")
    facts = _facts(stage, settled=standing.is_settled)
    facts = replace(facts, checks=checks_that_count(standing, facts.checks))
    with settings_if_small(stage.spark, stage.plan.input.records):
        read_back(stage, standing.position, whole_log=True)
    judged = course.judged = judge_run(stage.spark, stage.directory, facts)
    course.no_truth += judged.input_flaws
    course.no_truth += disagreements(
        RawLog(stage.client), stage.input_topic, stage.output_topic, judged
    )
    ran = while_it_ran(read_events(stage.directory.events))
    findings = with_own_words(judged.judgement.findings, ran)
    course.findings = with_faults(stage, findings, course.faults)
    course.facts = facts  # only now: without the cross-check nobody is to judge this run again
    course.doubts += doubts_of(
        standing, is_complete=judged.is_complete, has_findings=bool(course.findings)
    )


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
