"""A scenario with the configuration that fails, and the cures it knows."""

from pathlib import Path

import pytest

from onceproof.errors import UsageError
from onceproof.history.event import Event
from onceproof.history.verdict import Verdict
from onceproof.trial.axis import expected_of, title
from onceproof.trial.plan import Request, make_plan
from onceproof.trial.scenario import load_scenario, scenario_names
from onceproof.trial.seen import unseen
from onceproof.trial.suite_plan import suite_plans

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


def test_a_cluster_whose_controller_is_apart_is_not_kept() -> None:
    with pytest.raises(UsageError, match="controller apart"):
        make_plan(Request(scenario="outage_two_of_three", keep_cluster=True))
