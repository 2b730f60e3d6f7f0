"""A scenario with the configuration that fails, and the cures it knows."""

from pathlib import Path

import pytest

from onceproof.errors import UsageError
from onceproof.history.event import Event
from onceproof.history.verdict import Verdict
from onceproof.trial.judging.seen import unseen
from onceproof.trial.many.axis import expected_of, title
from onceproof.trial.many.suite_plan import suite_plans
from onceproof.trial.planning.plan import make_plan
from onceproof.trial.planning.request import Request
from onceproof.trial.planning.scenario import load_scenario, scenario_names

EVICTED = "poll_interval_eviction"
CURED = f"{EVICTED}:polling"
WITH_CURES = [name for name in scenario_names() if load_scenario(name).cures]


def test_a_cure_changes_its_settings_only_and_what_is_expected() -> None:
    ill, cured = (make_plan(Request(scenario=name)) for name in (EVICTED, CURED))
    assert (ill.settings["restore"], cured.settings["restore"]) == ("callback", "polling")
    assert {**cured.settings, "restore": "callback"} == ill.settings
    assert cured.schedule == ill.schedule
    assert (expected_of(ill), expected_of(cured)) == (Verdict.BROKEN, Verdict.HELD)
    assert cured.scenario.expect_anomalies == ()
    assert cured.repeat == f"onceproof run {CURED} --seed 1"
    assert title(cured) == f"{EVICTED}-polling"


def test_what_is_set_by_hand_has_the_last_word() -> None:
    request = Request(scenario=CURED, settings=("restore=callback",))
    assert make_plan(request).settings["restore"] == "callback"


def test_a_cure_may_be_one_of_the_brokers() -> None:
    plan = make_plan(Request(scenario="outage_fast_restart:shorter_session"))
    assert plan.scenario.broker_properties["broker.session.timeout.ms"] == "3000"


def test_an_unknown_cure_lists_the_known() -> None:
    with pytest.raises(
        UsageError, match=r"unknown variant of .* 'prayer'; known: longer_interval, po"
    ):
        make_plan(Request(scenario=f"{EVICTED}:prayer"))


@pytest.mark.parametrize("name", WITH_CURES)
def test_every_shipped_cure_makes_a_plan(name: str) -> None:
    for cure in load_scenario(name).cures:
        assert make_plan(Request(scenario=f"{name}:{cure}")).scenario.name == f"{name}-{cure}"


def test_a_suite_tries_the_cures_too(tmp_path: Path) -> None:
    request = Request(runs_dir=tmp_path)
    whole = [title(plan) for plan in suite_plans([EVICTED], request, quick=False)]
    assert whole == [EVICTED, f"{EVICTED}-polling", f"{EVICTED}-longer_interval"]
    assert [title(plan) for plan in suite_plans([EVICTED], request, quick=True)] == whole[:2]


def test_a_suite_tries_each_variant_of_which_something_is_expected(tmp_path: Path) -> None:
    name, request = "streams_skip_after_corrupted", Request(runs_dir=tmp_path)
    whole = [title(plan) for plan in suite_plans([name], request, quick=False)]
    assert whole == [
        f"{name} (streams 4.3.1)",
        f"{name} (streams 3.7.2)",
        f"{name} (streams 3.8.0)",
        f"{name}-defaults (streams 4.3.1)",
        f"{name}-defaults (streams 3.7.2)",
        f"{name}-revocation (streams 4.3.1)",
        f"{name}-revocation (streams 3.7.2)",
        f"{name}-updater_off (streams 3.8.0)",
        f"{name}-streams_protocol (streams 4.3.1)",
        f"{name}-control (streams 4.3.1)",
    ]  # not its exposure: that is luck
    quick = [title(plan) for plan in suite_plans([name], request, quick=True)]
    assert quick == whole[:2]


def test_without_the_note_it_is_about_a_run_shows_nothing() -> None:
    said = Event(at_s=1.0, kind="said", detail={"text": "evicted"})
    note = Event(at_s=1.0, kind="note", subject="instance 0", detail={"text": "it was evicted"})
    assert unseen(["evicted"], [note]) == []
    assert unseen(["evicted"], [said]) == [
        "what this scenario is about was not seen: no note says 'evicted'"
    ]


def there(subject: str, *lines: str) -> list[Event]:
    """Notes; what begins with a ! is a fault."""
    return [
        Event(
            at_s=0.0, kind="fault", subject=subject, detail={"action": line[1:], "applied": "true"}
        )
        if line.startswith("!")
        else Event(at_s=0.0, kind="note", subject=subject, detail={"text": line})
        for line in lines
    ]


def test_what_must_be_seen_may_have_an_order_and_be_told_by_one() -> None:
    wanted = ["fault: kill.*are corrupted"]
    assert unseen(wanted, there("instance 0", "!kill", "up", "tasks are corrupted")) == []
    assert unseen(wanted, there("instance 0", "tasks are corrupted", "!kill")) != []
    two = there("instance 0", "!kill") + there("instance 1", "tasks are corrupted")
    assert unseen(wanted, two) != []


def test_a_fault_that_did_not_apply_is_no_part_of_the_story() -> None:
    missed = Event(
        at_s=0.0, kind="fault", subject="x", detail={"action": "kill", "applied": "false"}
    )
    assert unseen(["fault: kill"], [missed]) != []


ACTIVE_4 = "StreamTask - t task [0_4] Closed and recycled state"
STANDBY_4 = "StandbyTask - t standby-task [0_4] Closed and recycled state"
STANDBY_1 = "StandbyTask - t standby-task [0_1] Closed and recycled state"


@pytest.mark.parametrize(
    ("lines", "is_seen"),
    [
        ((ACTIVE_4, STANDBY_4), True),
        ((STANDBY_4, ACTIVE_4), False),
        ((ACTIVE_4, STANDBY_1), False),
        ((ACTIVE_4,), False),
    ],
    ids=["there and back", "back and there", "two tasks", "there only"],
)
def test_a_stale_cache_needs_a_task_that_went_there_and_back(
    lines: tuple[str, ...], is_seen: bool
) -> None:
    wanted = load_scenario("kafka_14624_stale_cache").seen
    assert (unseen(wanted, there("instance 1", *lines)) == []) is is_seen
    if len(lines) == 2:
        apart = there("instance 1", lines[0]) + there("instance 2", lines[1])
        assert unseen(wanted, apart) != []


def test_what_is_no_pattern_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        'description = "x"\nsuspect = "streams_exactly_once"\nworkload = "copy"\nexpect = "HELD"\n'
        'seen = ["(never closed"]\n'
    )
    with pytest.raises(
        UsageError, match=r"scenario own: `seen` takes patterns; got '\(never closed'"
    ):
        load_scenario(str(own))


def test_a_suite_puts_others_into_the_same(tmp_path: Path) -> None:
    request = Request(runs_dir=tmp_path)
    plans = suite_plans(["tc02_crash_loop"], request, quick=False)
    assert [(title(plan), plan.suspect.name, expected_of(plan)) for plan in plans] == [
        ("tc02_crash_loop", "spark_exactly_once", Verdict.HELD),
        ("tc02_crash_loop (streams_exactly_once)", "streams_exactly_once", Verdict.HELD),
    ]
    assert len(suite_plans(["tc02_crash_loop"], request, quick=True)) == 1


def test_a_suite_tries_the_delayed_end_on_every_client(tmp_path: Path) -> None:
    name = "kafka_17754_delayed_end_txn"
    plans = suite_plans([name], Request(runs_dir=tmp_path), quick=False)
    assert [(title(plan), expected_of(plan)) for plan in plans] == [
        (name, Verdict.BROKEN),
        (f"{name} (clients 3.8.0)", Verdict.BROKEN),
        (f"{name} (clients 4.3.1)", Verdict.HELD),
        (f"{name} (spark_exactly_once)", Verdict.HELD),
        (f"{name}-lost_write", Verdict.BROKEN),
        (f"{name}-lost_write (clients 3.8.0)", Verdict.BROKEN),
        (f"{name}-lost_write (clients 4.3.1)", Verdict.HELD),
        (f"{name}-lost_write (spark_exactly_once)", Verdict.HELD),
        (f"{name}-control", Verdict.HELD),
    ]


def test_a_cluster_whose_controller_is_apart_is_not_kept() -> None:
    with pytest.raises(UsageError, match="controller apart"):
        make_plan(Request(scenario="outage_two_of_three", keep_cluster=True))
