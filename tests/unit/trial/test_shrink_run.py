"""A stored run is shrunk: rebuilt, tried again and again, written down. The trials are made up."""

import contextlib
import json
import runpy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from onceproof.errors import ClusterError, UsageError
from onceproof.history.fault_record import FaultRecord
from onceproof.history.finding import Finding
from onceproof.history.run_directory import RunDirectory
from onceproof.history.verdict import TrialResult, Verdict
from onceproof.suspects.catalog import SUSPECTS
from onceproof.trial.about import write_run_json
from onceproof.trial.many.broken_run import load_broken_run
from onceproof.trial.many.shrink import Shrinking, Shrunk
from onceproof.trial.many.shrink_bases import bases
from onceproof.trial.planning.plan import Plan, make_plan
from onceproof.trial.planning.request import Request
from onceproof.trial.planning.scenario import load_scenario

SCENARIO = """
description = "made up"
suspect = "consumer_manual_commit"
workload = "copy"
iterations = 4
instances = 2
expect = "HELD"

[[faults]]
action = "kill"
target = "instance:random"
at = ["10%", "30%"]

[[faults]]
action = ["kill", "pause"]
target = "broker:random"
at = "recovery"
heal_after_s = 4

[[faults]]
action = "stop"
target = "broker:leader"
at = "50%"
"""
DUPLICATED = (Finding(anomaly="duplicated", count=3),)


def record(iteration: int, action: str, target: str) -> FaultRecord:
    return FaultRecord(action=action, target=target, at_s=1.0, applied=True, iteration=iteration)


# It broke in the second of four iterations.
RECORDS = (
    record(1, "kill", "instance 0"),
    record(1, "kill", "instance 0"),
    record(1, "kill", "broker 1"),
    record(1, "stop", "broker 2 (leader)"),
    record(2, "kill", "instance 1"),
    record(2, "kill", "instance 0"),
    record(2, "pause", "broker 3"),
    record(2, "stop", "broker 1 (leader)"),
)


def result_of(plan: Plan, verdict: Verdict, findings: tuple[Finding, ...] = ()) -> TrialResult:
    return TrialResult(
        scenario=plan.scenario.name,
        suspect=plan.suspect.name,
        workload=plan.scenario.workload,
        seed=plan.seed,
        verdict=verdict,
        reasons=("a fault did not apply",) if verdict is Verdict.UNKNOWN else (),
        findings=findings,
    )


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Stores a run as a trial does: the real run.json of a real plan."""
    monkeypatch.setattr("onceproof.trial.about.versions", lambda _: {})

    def stored(verdict: Verdict = Verdict.BROKEN, **changes: object) -> Path:
        path = tmp_path / "mine.toml"
        path.write_text(SCENARIO)
        plan = make_plan(replace(Request(scenario=str(path), seed=9), **changes))
        directory = RunDirectory.create(tmp_path / "runs", plan.scenario.name, plan.seed)
        write_run_json(directory, plan, began_at=1_800_000_000.0)
        findings = DUPLICATED if verdict is Verdict.BROKEN else ()
        result = replace(result_of(plan, verdict, findings), faults=RECORDS, iterations=2)
        result.save(directory.verdict_json)
        return directory.path

    return stored


class MadeUpTrials:
    """Breaks whenever `breaks` says so of the plan; remembers what was tried."""

    def __init__(self, breaks: Callable[[Plan], bool | None]) -> None:
        self._breaks = breaks
        self.plans: list[Plan] = []

    def __call__(self, plan: Plan) -> tuple[TrialResult, RunDirectory]:
        self.plans.append(plan)
        breaks = self._breaks(plan)
        verdict = {True: Verdict.BROKEN, False: Verdict.HELD, None: Verdict.UNKNOWN}[breaks]
        result = result_of(plan, verdict, DUPLICATED if breaks else ())
        return result, RunDirectory(Path("runs/made-up"))


def shrink(
    run_dir: Path, carry_out: Callable, lines: list[str] | None = None, **changes: int
) -> Shrunk:
    told = lines if lines is not None else []
    counts = {"needed": 2, "repeats": 3, **changes}
    shrinking = Shrinking(
        load_broken_run(run_dir), runs_dir=run_dir.parents[1], tell=told.append, **counts
    )
    return shrinking.carry_out(carry_out)


def targets(plan: Plan) -> list[str]:
    return [f"{step.actions[0]} {step.target}" for step in plan.schedule]


def test_the_run_is_rebuilt_as_it_was(store: Callable[..., Path]) -> None:
    run = load_broken_run(store(settings=("commit=per_partition", "broker.num.io.threads=2")))
    assert run.scenario.settings == {
        **(SUSPECTS["consumer_manual_commit"].settings or {}),
        "commit": "per_partition",
    }
    assert run.scenario.broker_properties == {"num.io.threads": "2"}
    assert (run.seed, run.anomalies, run.command) == (9, {"duplicated"}, None)


def test_one_iteration_with_the_choices_of_the_one_that_broke_comes_first(
    store: Callable[..., Path],
) -> None:
    one, all_ = bases(load_broken_run(store()))
    assert (one.iterations, one.records, one.keys) == (1, 1_600, 64)
    assert [(fault["action"], fault["target"], fault["at"]) for fault in one.faults] == [
        ("kill", "instance:1", "10%"),
        ("kill", "instance:0", "30%"),
        ("pause", "broker:3", "recovery"),
        ("stop", "broker:leader", "50%"),  # a role is asked for again: it may have moved
    ]
    assert (all_.iterations, all_.records) == (4, 6_400)
    assert [fault["target"] for fault in all_.faults] == [
        *("instance:random", "instance:random", "broker:random", "broker:leader")
    ]


def test_what_the_record_does_not_tell_stays_as_it_was_scheduled(
    store: Callable[..., Path],
) -> None:
    """A loop that ended early has fewer records than faults."""
    run = load_broken_run(store())
    (one, _) = bases(replace(run, records=(record(2, "kill", "instance:random"),)))
    assert [(fault["action"], fault["target"]) for fault in one.faults] == [
        ("kill", "instance:random"),
        ("kill", "instance:random"),
        (["kill", "pause"], "broker:random"),
        ("stop", "broker:leader"),
    ]


def test_a_run_of_one_iteration_has_one_base(store: Callable[..., Path]) -> None:
    (one,) = bases(load_broken_run(store(iterations=1, records=500)))
    assert (one.iterations, one.records) == (1, 500)


def test_the_smallest_schedule_is_found_and_written_down(store: Callable[..., Path]) -> None:
    trials = MadeUpTrials(lambda plan: "pause broker:3" in targets(plan))
    lines: list[str] = []
    run_dir = store()
    shrunk = shrink(run_dir, trials, lines)
    found = shrunk.smallest
    assert found is not None
    again = load_scenario(str(found.toml))
    assert [(fault["action"], fault["at"]) for fault in again.faults] == [
        ("kill", "30%"),  # the recovery's own: it stays with it
        ("pause", "recovery"),
    ]
    assert (again.iterations, again.expect, again.expect_anomalies) == (
        1,
        "BROKEN",
        ("duplicated",),
    )
    assert again.schedule() == make_plan(Request(scenario=str(found.toml))).schedule
    assert (found.tally.broke, found.tally.of) == (2, 2)
    assert (shrunk.faults_before, shrunk.trials) == (4, len(trials.plans))
    assert len(lines) == len(trials.plans)
    assert found.repeat == f"onceproof run {found.toml} --seed 9"
    assert found.toml.parent == run_dir.parents[1] / "mine-shrunk" / f"of-{run_dir.name}"
    assert found.toml.read_text().startswith(f"# {found.repeat}\n")


def test_each_trial_can_be_repeated_on_its_own(store: Callable[..., Path]) -> None:
    trials = MadeUpTrials(lambda plan: "kill instance:1" in targets(plan))
    shrink(store(), trials)
    for plan in trials.plans:
        assert plan.seed == 9
        assert f"--seed {plan.seed}" in plan.repeat
        assert make_plan(Request(scenario=plan.repeat.split()[2], seed=9)).schedule == plan.schedule


def test_what_breaks_without_a_fault_is_told_so(store: Callable[..., Path]) -> None:
    trials = MadeUpTrials(lambda _: True)
    found = shrink(store(), trials).smallest
    assert found is not None
    assert (found.scenario.faults, len(trials.plans)) == ((), 2)
    assert load_scenario(str(found.toml)).faults == ()


def test_where_one_iteration_does_not_break_the_whole_loop_is_shrunk(
    store: Callable[..., Path],
) -> None:
    def breaks(plan: Plan) -> bool:
        return plan.scenario.iterations == 4 and "stop broker:leader" in targets(plan)

    found = shrink(store(), MadeUpTrials(breaks)).smallest
    assert found is not None
    again = load_scenario(str(found.toml))
    assert (again.iterations, again.records, len(again.faults)) == (4, 6_400, 1)


def test_what_does_not_break_again_is_not_written_down(store: Callable[..., Path]) -> None:
    lines: list[str] = []
    shrunk = shrink(store(), MadeUpTrials(lambda _: None), lines)
    assert shrunk.smallest is None
    assert (shrunk.untold, shrunk.trials) == (8, 8)  # nothing, all of them; one iteration, four
    assert all("UNKNOWN: a fault did not apply" in line for line in lines)
    assert shrunk.to_json()["reproduced"] is False


def test_another_failure_than_the_one_to_shrink_does_not_count(store: Callable[..., Path]) -> None:
    def died(plan: Plan) -> tuple[TrialResult, RunDirectory]:
        found = (Finding(anomaly="died", count=1),)
        return result_of(plan, Verdict.BROKEN, found), RunDirectory(Path("runs/made-up"))

    lines: list[str] = []
    assert shrink(store(), died, lines).smallest is None
    assert "broke otherwise: died, not duplicated" in lines[0]


def test_a_trial_that_could_not_be_carried_out_is_told_and_did_not_break(
    store: Callable[..., Path],
) -> None:
    def fails(_: Plan) -> tuple[TrialResult, RunDirectory]:
        raise ClusterError("broker 2 not ready after 30 s")

    lines: list[str] = []
    shrunk = shrink(store(), fails, lines)
    assert (shrunk.smallest, shrunk.untold) == (None, 8)
    assert "UNKNOWN: broker 2 not ready after 30 s" in lines[0]


def test_a_users_own_command_is_tried_with_its_task_and_what_was_said_of_it(
    store: Callable[..., Path],
) -> None:
    said = ("transactional=true", "offsets_in_group=true", "a=b")
    run_dir = store(command="my 'odd app'", workload="fold", settings=said)
    trials = MadeUpTrials(lambda plan: len(plan.schedule) > 0)
    found = shrink(run_dir, trials).smallest
    assert found is not None
    for plan in trials.plans:
        assert plan.suspect.argv == ("my", "odd app")
        assert (plan.suspect.transactional, plan.suspect.offsets_in_group) == (True, True)
        assert (plan.scenario.workload, plan.settings) == ("fold", {"a": "b"})
    assert "--command 'my '\"'\"'odd app'\"'\"'' --workload fold --seed 9" in found.repeat


def test_a_run_of_before_says_less_of_its_command_and_is_read_all_the_same(
    store: Callable[..., Path],
) -> None:
    stored = store(command="my-app", settings=("transactional=true",))
    about = json.loads((stored / "run.json").read_text())
    del about["declared"]
    (stored / "run.json").write_text(json.dumps({**about, "transactional": True}))
    assert load_broken_run(stored).scenario.settings["transactional"] == "true"


def test_a_cluster_that_ran_already_is_used_again(store: Callable[..., Path]) -> None:
    run_dir = store(scenario="tc02_crash_loop", bootstrap_server="localhost:9092")
    trials = MadeUpTrials(lambda plan: len(plan.schedule) > 0)
    found = shrink(run_dir, trials).smallest
    assert found is not None
    assert {plan.bootstrap_server for plan in trials.plans} == {"localhost:9092"}
    assert found.repeat.endswith("--seed 9 --bootstrap-server localhost:9092")


def test_a_shrunk_run_can_be_shrunk_again_under_the_same_name(store: Callable[..., Path]) -> None:
    found = shrink(store(), MadeUpTrials(lambda plan: len(plan.schedule) > 1)).smallest
    assert found is not None
    again = store(scenario=str(found.toml))
    smaller = shrink(again, MadeUpTrials(lambda plan: len(plan.schedule) > 0)).smallest
    assert smaller is not None
    assert (smaller.scenario.name, len(smaller.scenario.faults)) == ("mine-shrunk", 1)


@pytest.mark.parametrize("verdict", [Verdict.HELD, Verdict.UNKNOWN])
def test_only_a_run_that_broke_can_be_shrunk(store: Callable[..., Path], verdict: Verdict) -> None:
    with pytest.raises(UsageError, match=f"is {verdict.value}; only a BROKEN run"):
        load_broken_run(store(verdict))


def test_brokers_of_ones_own_build_are_not_replaced_by_others(store: Callable[..., Path]) -> None:
    stored = store()
    about = json.loads((stored / "run.json").read_text())
    own = {"kafka": {"kafka_2.13-4.3.1.jar": "00"}}
    (stored / "run.json").write_text(json.dumps({**about, "own_jars": own}))
    with pytest.raises(UsageError, match="other brokers would be tried"):
        load_broken_run(stored)


def test_what_is_no_run_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no finished run directory: run\.json is missing"):
        load_broken_run(tmp_path)
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(UsageError, match=r"verdict\.json is missing"):
        load_broken_run(tmp_path)
    (tmp_path / "verdict.json").write_text("nonsense")
    with pytest.raises(UsageError, match="cannot be read"):
        load_broken_run(tmp_path)


def test_a_wish_that_cannot_be_met_is_refused_before_anything_runs(
    store: Callable[..., Path],
) -> None:
    trials = MadeUpTrials(lambda _: True)
    with pytest.raises(UsageError, match="got 4 of 3"):
        shrink(store(), trials, needed=4)
    assert trials.plans == []


PRETENDS = """
import json, pathlib, sys
assert sys.argv[1] == "run" and sys.argv[-2:] == ["--seed", "9"], sys.argv
assert pathlib.Path(sys.argv[2]).read_text().count("[[faults]]") == 1
runs = pathlib.Path(sys.argv[sys.argv.index("--runs-dir") + 1])
tries = runs / "tries"
(runs / "latest").mkdir(parents=True, exist_ok=True)
with tries.open("a") as log:
    log.write("x")
breaks = tries.stat().st_size >= {breaks_at}
findings = [{{"anomaly": "{anomaly}"}}] if breaks else []
(runs / "latest" / "verdict.json").write_text(json.dumps({{"findings": findings}}))
sys.exit(1 if breaks else 0)
"""


@pytest.mark.parametrize(
    ("breaks_at", "anomaly", "passes"),
    [
        (1, "duplicated", True),
        (3, "duplicated", True),
        (4, "duplicated", False),
        (1, "lost", False),
    ],
)
def test_the_pasteable_test_passes_only_where_the_same_failure_is_there(
    store: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    breaks_at: int,
    anomaly: str,
    passes: bool,
) -> None:
    """Run for real, against a command that pretends."""
    found = shrink(store(), MadeUpTrials(lambda plan: len(plan.schedule) > 0)).smallest
    assert found is not None
    pretender = tmp_path / "path" / "onceproof"
    pretender.mkdir(parents=True)
    (pretender / "__init__.py").touch()
    (pretender / "__main__.py").write_text(PRETENDS.format(breaks_at=breaks_at, anomaly=anomaly))
    monkeypatch.setenv("PYTHONPATH", str(pretender.parent))
    test = runpy.run_path(str(found.test))["test_the_smallest_schedule_still_breaks"]
    with contextlib.nullcontext() if passes else pytest.raises(AssertionError):
        test(tmp_path)


def test_what_was_found_as_json(store: Callable[..., Path]) -> None:
    run_dir = store()
    shrunk = shrink(run_dir, MadeUpTrials(lambda plan: "kill instance:1" in targets(plan)))
    data = json.loads(json.dumps(shrunk.to_json()))
    assert data["reproduced"] is True
    assert (data["faults_before"], data["faults_after"]) == (4, 1)
    assert (data["iterations_before"], data["iterations_after"]) == (4, 1)
    assert (data["broke"], data["of"], data["anomalies"]) == (2, 2, ["duplicated"])
    assert data["faults"] == [{"action": "kill", "target": "instance:1", "at": "10%"}]
    assert data["run"] == str(run_dir)
    assert Path(data["scenario"]).name == "shrunk.toml"
    assert Path(data["test"]).name == "test_shrunk.py"


def test_a_program_is_shrunk_to_its_fewest_steps_with_somebody_at_work(
    store: Callable[..., Path],
) -> None:
    def breaks(plan: Plan) -> bool:
        return targets(plan)[:2] == ["toggle instance:1", "toggle instance:2"]

    trials = MadeUpTrials(breaks)
    run_dir = store(suspect="consumer_manual_commit", program="1 2 3 3", iterations=1)
    shrunk = shrink(run_dir, trials)
    assert shrunk.smallest is not None
    scenario = load_scenario(str(shrunk.smallest.toml))
    assert [fault["target"] for fault in scenario.faults] == ["instance:1", "instance:2"]
    assert (scenario.running, scenario.first_instance, scenario.instances) == (0, 1, 3)
    assert all(targets(plan) for plan in trials.plans)  # never without anybody


def test_a_loop_whose_iterations_differ_is_shrunk_as_a_whole(store: Callable[..., Path]) -> None:
    run = load_broken_run(store())
    staged = replace(run, scenario=load_scenario("kafka_20685_stale_checkpoint"))
    (whole,) = bases(staged)
    assert (whole.iterations, whole.shares) == (2, (1, 15))
    assert [fault["action"] for fault in whole.faults] == ["restart", "kill"]
