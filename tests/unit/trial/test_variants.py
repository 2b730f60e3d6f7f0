"""Variants of a scenario: chosen after a colon, whole scenarios themselves."""

import re
from pathlib import Path

import pytest

from onceproof.errors import UsageError
from onceproof.trial.axis import MatrixRequest, expected_of, plan_axes
from onceproof.trial.plan import Request, make_plan
from onceproof.trial.scenario import load_scenario, scenario_names, variant_names

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


def test_an_unknown_variant_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match=re.escape(f"unknown variant of {CHECKPOINT} 'x'; known")):
        load_scenario(f"{CHECKPOINT}:x")
    with pytest.raises(UsageError, match="scenario tc01_normal has no variants; got 'exposure'"):
        plan_axes(MatrixRequest(scenario="tc01_normal", exposure=True), Path())


def test_exposure_expects_nothing_and_leaves_streams_its_defaults(tmp_path: Path) -> None:
    axes = plan_axes(MatrixRequest(scenario="all", exposure=True), tmp_path)
    assert f"{CHECKPOINT}-exposure" in [axis.scenario.name for axis in axes]
    for at in (at for axis in axes for at in axis.versions):
        assert at.expected is None
        assert at.plan.settings["defaults"] == "true"
