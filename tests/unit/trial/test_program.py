"""A scenario as text: what is written is what is read again, and the test around it can be run."""

import ast
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onceproof.faults.random_schedule import Reach, random_faults
from onceproof.trial.planning.scenario import Scenario, load_scenario, make_scenario, scenario_names
from onceproof.trial.planning.scenario_text import pasteable_test, to_toml

EVERYTHING = {
    "name": "mine-shrunk",
    "description": 'quotes " and \\ and\nnew lines, 中文, \x7f and \x01',
    "suspect": "command",
    "workload": "fold",
    "expect": "BROKEN",
    "expect_anomalies": ["duplicated", "lost"],
    "keys": 12,
    "feed_s": 2.5,
    "live": True,
    "settings": {"lanes": "4", "an odd key": "v=1", "transactional": "true"},
    "broker_properties": {"transaction.max.timeout.ms": "20000"},
    "checks": ["lost"],
    "faults": [
        {"action": ["kill", "pause"], "target": "broker:random", "at": ["5%", "2 s"]},
        {"action": "slow", "target": "instance:0", "at": "recovery", "delay_s": 0.1},
    ],
}


def read_again(scenario: Scenario, folder: Path) -> Scenario:
    path = folder / "shrunk.toml"
    path.write_text(to_toml(scenario), encoding="utf-8")
    return load_scenario(str(path))


@pytest.mark.parametrize("name", scenario_names())
def test_a_shipped_scenario_is_the_same_when_read_again(name: str, tmp_path: Path) -> None:
    scenario = load_scenario(name)
    assert read_again(scenario, tmp_path) == scenario


def test_every_kind_of_value_is_the_same_when_read_again(tmp_path: Path) -> None:
    scenario = make_scenario(EVERYTHING)
    again = read_again(scenario, tmp_path)
    assert again == scenario
    assert again.schedule() == scenario.schedule()


@pytest.mark.parametrize("seed", range(1, 20))
def test_a_random_schedule_is_the_same_when_read_again(seed: int, tmp_path: Path) -> None:
    reach = Reach(
        instances=2, brokers=3, transaction_timeout_s=10, network=True, frames=("EndTxn",)
    )
    scenario = make_scenario({**EVERYTHING, "faults": random_faults(seed, 8, reach)})
    assert read_again(scenario, tmp_path).schedule() == scenario.schedule()


@settings(deadline=None)  # the machine may be busy
@given(st.text(st.characters(codec="utf-8")))
def test_any_text_is_the_same_when_read_again(text: str) -> None:
    scenario = make_scenario({**EVERYTHING, "description": text, "settings": {text: text}})
    read = tomllib.loads(to_toml(scenario))
    assert (read["description"], read["settings"]) == (text, {text: text})


def test_the_version_of_the_brokers_is_always_written() -> None:
    """A default may change; what broke must be run as it was."""
    assert 'kafka = "4.3.1"' in to_toml(load_scenario("tc01_normal"))
    assert "records = 6400" in to_toml(load_scenario("tc01_normal"))


def test_the_whole_program() -> None:
    scenario = make_scenario(
        {
            "name": "copy-shrunk",
            "description": "one kill",
            "suspect": "consumer_manual_commit",
            "workload": "copy",
            "expect": "BROKEN",
            "expect_anomalies": ["duplicated"],
            "settings": {"order": "output_first"},
            "faults": [{"action": "kill", "target": "instance:0", "at": "30%", "heal_after_s": 1}],
        }
    )
    assert to_toml(scenario) == (
        'name = "copy-shrunk"\n'
        'description = "one kill"\n'
        'suspect = "consumer_manual_commit"\n'
        'workload = "copy"\n'
        'expect = "BROKEN"\n'
        'expect_anomalies = ["duplicated"]\n'
        "records = 6400\n"
        'kafka = "4.3.1"\n'
        "\n"
        "[settings]\n"
        'order = "output_first"\n'
        "\n"
        "[[faults]]\n"
        'action = "kill"\n'
        'target = "instance:0"\n'
        'at = "30%"\n'
        "heal_after_s = 1\n"
    )


def test_the_pasteable_test_is_python_that_holds_the_scenario_as_it_is() -> None:
    toml = to_toml(make_scenario(EVERYTHING))
    text = pasteable_test(
        toml, ["--seed", "7", "--command", 'my "app"'], anomalies=("lost",), tries=3
    )
    space: dict[str, object] = {}
    exec(compile(text, "test_shrunk.py", "exec"), space)
    assert space["SCENARIO"] == toml
    assert space["OPTIONS"] == ["--seed", "7", "--command", 'my "app"']
    assert space["ANOMALIES"] == {"lost"}
    (test,) = [each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)]
    assert test.name == "test_the_smallest_schedule_still_breaks"


@settings(deadline=None)  # the machine may be busy
@given(st.text(st.characters(codec="utf-8")))
def test_no_text_breaks_out_of_the_pasteable_test(text: str) -> None:
    space: dict[str, object] = {}
    program = pasteable_test(text, [text], anomalies=("lost",), tries=1)
    exec(compile(program.encode(), "test_shrunk.py", "exec"), space)
    assert (space["SCENARIO"], space["OPTIONS"]) == (text, [text])
