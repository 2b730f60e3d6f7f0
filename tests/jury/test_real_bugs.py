"""Bugs of Kafka on the versions that have them, on those that do not, and without the fault."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from onceproof.trial.program import to_toml
from onceproof.trial.scenario import load_scenario

pytestmark = [pytest.mark.jury, pytest.mark.timeout(3600)]

# Each with the fault that makes it, and what it leads to.
BUGS = {
    "kafka_17507_marker_race": ("delay_method", ["lost", "premature-offset"]),
    "kafka_17507_forgotten_commit": ("delay_method", ["duplicated", "stale-offset"]),
    "kafka_17507_rolling_restart": ("fill_offsets", ["lost", "premature-offset"]),
    "kafka_17754_delayed_end_txn": ("stray_end", ["duplicated"]),
    "kafka_17754_delayed_end_txn:lost_write": ("stray_abort", ["lost"]),
}
REPEATS, BROKEN_MIN = 20, 18


def onceproof(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "onceproof", *arguments],
        capture_output=True,
        text=True,
        timeout=3500,
        check=False,
    )


def matrix(*arguments: str) -> dict[str, Any]:
    ended = onceproof("matrix", *arguments, "--json")
    assert ended.returncode == 0, ended.stderr[-3000:] + ended.stdout[-3000:]
    (told,) = json.loads(ended.stdout)
    return dict(told)


@pytest.mark.parametrize("scenario", BUGS)
def test_each_version_ends_as_history_says(scenario: str, tmp_path: Path) -> None:
    told = matrix(scenario, "--runs-dir", str(tmp_path))
    for row in told["rows"]:
        found = BUGS[scenario][1] if row["verdict"] == "BROKEN" else []
        assert sorted(row["anomalies"]) == found, row
    assert {row["verdict"] for row in told["rows"]} == {"HELD", "BROKEN"}


@pytest.mark.parametrize("scenario", BUGS)
def test_without_its_fault_it_holds(scenario: str, tmp_path: Path) -> None:
    whole = load_scenario(scenario)
    control = tmp_path / "control.toml"
    left = tuple(each for each in whole.faults if each["action"] != BUGS[scenario][0])
    assert len(left) == len(whole.faults) - 1
    control.write_text(to_toml(whole.model_copy(update={"faults": left})))
    for version in whole.versions if whole.axis == "kafka" else [whole.kafka]:
        ended = onceproof(
            "run", str(control), "--kafka", version, "--runs-dir", str(tmp_path), "--json"
        )
        result = json.loads(ended.stdout)
        assert result["verdict"] == "HELD", (version, result["reasons"])


@pytest.mark.parametrize("scenario", BUGS)
def test_it_comes_nearly_every_time(scenario: str, tmp_path: Path) -> None:
    bad = next(iter(load_scenario(scenario).versions))
    told = matrix(
        scenario, "--versions", bad, "--repeat", str(REPEATS), "--runs-dir", str(tmp_path)
    )
    (row,) = told["rows"]
    assert (row["of"], row["broken"] >= BROKEN_MIN) == (REPEATS, True), row


def test_a_rule_on_a_method_that_does_not_exist_leaves_the_verdict_open(tmp_path: Path) -> None:
    whole = load_scenario("kafka_17507_marker_race")
    rule = {**whole.faults[0], "method": "kafka.coordinator.group.NoSuchThing.atAll"}
    misspelt = tmp_path / "misspelt.toml"
    misspelt.write_text(to_toml(whole.model_copy(update={"faults": (rule, *whole.faults[1:])})))
    ended = onceproof("run", str(misspelt), "--runs-dir", str(tmp_path), "--json", "--bisect")
    result = json.loads(ended.stdout)
    assert (ended.returncode, result["verdict"]) == (125, "UNKNOWN")
    assert [fault["applied"] for fault in result["faults"]] == [False, True]
    assert "has loaded no class with a method kafka.coordinator.group.NoSuchThing.atAll" in str(
        result["reasons"]
    )
