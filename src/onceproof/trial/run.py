"""One trial from start to verdict. The outermost guard: whatever breaks in here is never HELD."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from onceproof.errors import ClusterError, JarError, UsageError
from onceproof.history.event import Event, EventLog, read_events, while_it_ran
from onceproof.history.point import Point
from onceproof.history.recovery import recoveries_s
from onceproof.history.run_directory import RunDirectory, ensure_runs_dir
from onceproof.history.verdict import TrialResult
from onceproof.machine import check_machine
from onceproof.report.write import write_reports
from onceproof.suspects.spare import Spares
from onceproof.trial.about import add_judgement, versions, write_run_json
from onceproof.trial.conduct import Course, conduct, judge_standing
from onceproof.trial.ground import Ground
from onceproof.trial.judging.decide import Evidence, decide
from onceproof.trial.judging.judge import Besides
from onceproof.trial.judging.points import Seen, judge_points
from onceproof.trial.judging.standing import Standing
from onceproof.trial.planning.plan import Plan
from onceproof.trial.provision import provision
from onceproof.trial.spark import JudgeSpark
from onceproof.trial.stage import Stage


class Trial:
    """Two halves: `hold` needs the machine for itself, `judge` only what is stored and in topics.

    Whoever runs many trials may hold the next one while this one is judged. Both must be called,
    in this order; `judge` ends everything, or `abandon` without a verdict. `run_trial` does that.
    """

    def __init__(
        self,
        plan: Plan,
        listener: Callable[[Event], None] | None = None,
        spark: JudgeSpark | None = None,
        ground: Ground | None = None,
        *,
        spares: Spares | None = None,
    ) -> None:
        """`spark`, `ground`, `spares`: what to judge with, to run on, to start from; they stay."""
        ensure_runs_dir(plan.runs_dir)
        check_machine(plan.runs_dir)
        self.directory = RunDirectory.create(plan.runs_dir, plan.scenario.name, plan.seed)
        self._plan = plan
        self._events = EventLog(self.directory.events, listener)
        self._stage = Stage(plan, self.directory, self._events, spark, ground, spares=spares)
        self._course = Course()
        self._standing: Standing | None = None  # None: it did not come so far
        write_run_json(self.directory, plan, self._events.began_at)

    def hold(self) -> None:
        """Until nothing of the suspect moves any more."""
        try:
            provision(self._plan, self._events)
            self._open_stage()
            with self._guard():
                self._standing = conduct(self._stage, self._course)
            if self._standing is None:
                self._stage.end_instances()  # another trial may begin here now
        except BaseException:
            self.abandon()
            raise

    def _open_stage(self) -> None:
        """Brokers of the user's own build that do not start are the build's affair, not ours."""
        try:
            self._stage.open()
        except ClusterError as problem:
            if self._plan.kafka_jars is None:
                raise
            raise JarError(f"--kafka-jars: no brokers of this build: {problem}") from problem

    def abandon(self) -> None:
        """It ends here, unjudged."""
        self._end()

    def judge(self) -> TrialResult:
        try:
            with self._guard():
                if self._standing is not None:
                    judge_standing(self._stage, self._course, self._standing)
                    self._course.points = self._points()
            self._events.write("phase", "end")
            self._time_faults()
            if self._course.facts is not None:
                add_judgement(self.directory, self._course.facts, self._besides())
            result = _result(self._plan, self._course, self._events.now_s())
            result.save(self.directory.verdict_json)
        finally:
            self._end()
        write_reports(self.directory)
        return result

    def _points(self) -> tuple[Point, ...]:
        from onceproof.history.produced import read_produced

        scenario = self._plan.scenario
        if not scenario.points:
            return ()
        pace = scenario.pace()
        seen = Seen(
            events=while_it_ran(read_events(self.directory.events)),
            produced=read_produced(
                {"started_unix_s": self._events.began_at}, self.directory.history
            ),
            findings=self._course.findings,
            byte_rate=scenario.producer_byte_rate,
            transaction_timeout_ms=scenario.transaction_timeout_ms,
            stuck_after_s=scenario.stuck_after_s,
            feed_s=pace.seconds_for(scenario.records) if pace else 0.0,
        )
        return judge_points(scenario.points, seen)

    def _besides(self) -> Besides:
        return Besides(
            doubts=tuple(self._course.doubts),
            no_truth=tuple(self._course.no_truth),
            faults_scheduled=self._plan.faults_scheduled,
            fed_expected=self._plan.input.records,
        )

    def _time_faults(self) -> None:
        """How long each kept the suspect from its work."""
        took = recoveries_s(read_events(self.directory.events))
        self._course.faults[:] = [
            replace(fault, recovery_s=recovery_s)
            for fault, recovery_s in zip(self._course.faults, took, strict=True)
        ]

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """The trial's outermost: whatever breaks in here is never HELD."""
        try:
            yield
        except UsageError:
            raise  # what was asked for cannot be tried at all: nothing was on trial
        except Exception as problem:  # noqa: BLE001 - a broken trial says UNKNOWN, and why
            told = f"{type(problem).__name__}: {problem}".partition("\n")[0]
            self._course.doubts.append(f"the trial could not be carried through: {told}")

    def _end(self) -> None:
        try:
            self._stage.close()
        finally:
            self._events.close()


def run_trial(
    plan: Plan,
    listener: Callable[[Event], None] | None = None,
    spark: JudgeSpark | None = None,
    ground: Ground | None = None,
) -> tuple[TrialResult, RunDirectory]:
    """Carry the plan out; the result, and the directory that holds everything."""
    trial = Trial(plan, listener, spark, ground)
    trial.hold()
    return trial.judge(), trial.directory


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
            faults_scheduled=plan.faults_scheduled,
            fed=counts.get("input", 0),
            fed_expected=plan.input.records,
            output=counts.get("output_committed", 0),
            doubts=course.doubts,
            crashed=judged.judgement.unknown if judged else {},
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
        points=course.points,
        checks_off=judged.judgement.off if judged else (),
    )
