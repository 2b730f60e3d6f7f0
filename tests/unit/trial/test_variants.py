"""Variants of a scenario: chosen after a colon, whole scenarios themselves."""

import re
from pathlib import Path

import pytest

from onceproof.errors import UsageError
from onceproof.trial.many.axis import MatrixRequest, expected_of, plan_axes
from onceproof.trial.planning.plan import make_plan
from onceproof.trial.planning.request import Request
from onceproof.trial.planning.scenario import load_scenario, scenario_names, variant_names

ALL = [f"{name}:{variant}" for name in scenario_names() for variant in variant_names(name)]
CHECKPOINT = "kafka_20685_stale_checkpoint"


def write(folder: Path, text: str) -> str:
    file = folder / "own.toml"
    head = 'description = "d"\nsuspect = "streams_java"\nworkload = "copy"\nexpect = "HELD"\n'
    file.write_text(head + text)
    return str(file)


@pytest.mark.parametrize("name", ALL)
def test_each_variant_is_a_whole_scenario(name: str) -> None:
    plan = make_plan(Request(scenario=name))
    assert plan.scenario.name == name.replace(":", "-")
    assert plan.scenario.description != load_scenario(name.partition(":")[0]).description
    expected = None if plan.scenario.luck else plan.scenario.expect
    assert expected_of(plan) == expected
    assert f"run {name} " in plan.repeat


def test_what_it_names_replaces_and_of_settings_the_version_stays(tmp_path: Path) -> None:
    own = write(
        tmp_path,
        'axis = "streams"\nrecords = 10\n'
        '[versions]\n"4.3.1" = "HELD"\n'
        '[settings]\nstreams = "4.1.2"\nstandbys = "1"\n'
        '[variants.few]\nrecords = 5\n[variants.plain]\nsettings = { threads = "2" }\n',
    )
    assert load_scenario(own).settings == {"streams": "4.1.2", "standbys": "1"}
    few, plain = load_scenario(f"{own}:few"), load_scenario(f"{own}:plain")
    assert (few.records, few.settings) == (5, {"streams": "4.1.2", "standbys": "1"})
    assert (plain.records, plain.settings) == (10, {"streams": "4.1.2", "threads": "2"})


PAUSED_AND_KILLED = (
    'axis = "streams"\nfixed_in = "3.9.1"\nproducer_byte_rate = 9\n'
    'cause = ["pause", "producer_byte_rate"]\n[versions]\n"3.8.0" = "BROKEN"\n'
    '[[faults]]\naction = "pause"\ntarget = "instance:0"\nat = "1 s"\nheal_after_s = 1\n'
    '[[faults]]\naction = "kill"\ntarget = "instance:0"\nat = "2 s"\n'
)


def test_the_control_of_a_scenario_leaves_its_cause_out_and_expects_to_hold(tmp_path: Path) -> None:
    own = write(tmp_path, PAUSED_AND_KILLED)
    whole, control = load_scenario(own), load_scenario(f"{own}:control")
    assert control.faults == whole.faults[1:]
    assert (whole.producer_byte_rate, control.producer_byte_rate) == (9, None)
    assert (control.versions, control.fixed_in) == ({"3.8.0": "HELD"}, None)
    assert control.description == "the same without its cause (pause, producer_byte_rate)"


def test_a_cause_that_is_not_in_the_scenario_is_refused(tmp_path: Path) -> None:
    own = write(tmp_path, PAUSED_AND_KILLED.replace('["pause", ', '["slow", '))
    with pytest.raises(UsageError, match="cause names 'slow', which is neither a key or a setting"):
        load_scenario(f"{own}:control")


def test_who_names_other_versions_says_all_about_them(tmp_path: Path) -> None:
    more = '[variants.calm]\nversions = { "4.3.1" = "HELD" }\n[variants.few]\nrecords = 5\n'
    own = write(tmp_path, PAUSED_AND_KILLED + more)
    assert (load_scenario(f"{own}:few").fixed_in, load_scenario(f"{own}:calm").fixed_in) == (
        "3.9.1",
        None,
    )


@pytest.mark.parametrize("name", [name for name in ALL if name.endswith(":control")])
def test_a_control_is_the_same_but_for_its_cause_and_held_on_every_version(name: str) -> None:
    bug, control = load_scenario(name.partition(":")[0]), load_scenario(name)
    own = {"name", "description", "expect", "expect_anomalies", "versions", "since", "fixed_in"}
    own |= {"also", "points", "seen", "cause"}
    cause = {"faults", "producer_byte_rate", "settings"}
    plain, whole = control.model_dump(exclude=own), bug.model_dump(exclude=own)
    changed = {key for key in whole if plain[key] != whole[key]}
    assert changed
    assert changed <= cause
    assert plain["settings"].items() <= whole["settings"].items()
    assert [fault for fault in bug.faults if fault in control.faults] == list(control.faults)
    assert control.versions == dict.fromkeys(bug.versions, "HELD")


def test_each_bug_along_versions_has_a_control() -> None:
    bugs = [name for name in scenario_names() if load_scenario(name).axis is not None]
    assert [name for name in bugs if f"{name}:control" not in ALL] == []


@pytest.mark.parametrize(
    "name", [name for name in ALL if "BROKEN" in load_scenario(name).versions.values()]
)
def test_a_variant_that_breaks_has_a_control_too(name: str) -> None:
    scenario = load_scenario(name)
    if not scenario.luck:
        control = load_scenario(f"{name}:control")
        assert control.versions == dict.fromkeys(scenario.versions, "HELD")
        assert len(control.faults) < len(scenario.faults)


def test_an_unknown_variant_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match=re.escape(f"unknown variant of {CHECKPOINT} 'x'; known")):
        load_scenario(f"{CHECKPOINT}:x")
    with pytest.raises(UsageError, match="scenario tc01_normal has no variants; got 'exposure'"):
        plan_axes(MatrixRequest(scenario="tc01_normal", exposure=True), Path())


@pytest.mark.parametrize("wrong", ["variants = 3", '[variants]\nx = "y"'])
def test_variants_that_are_no_tables_are_refused(wrong: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f'suspect = "consumer_manual_commit"\nworkload = "copy"\n{wrong}\n')
    with pytest.raises(UsageError, match="holds a table for each"):
        load_scenario(f"{file}:x")


def test_exposure_expects_nothing_and_leaves_streams_its_defaults(tmp_path: Path) -> None:
    axes = plan_axes(MatrixRequest(scenario="all", exposure=True), tmp_path)
    assert f"{CHECKPOINT}-exposure" in [axis.scenario.name for axis in axes]
    for at in (at for axis in axes for at in axis.versions):
        assert at.expected is None
        assert at.plan.scenario.axis != "streams" or at.plan.settings["defaults"] == "true"
