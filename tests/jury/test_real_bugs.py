"""Bugs of Kafka on the versions that have them, on those that do not, and without the fault."""

import json
import subprocess
import sys
from collections.abc import Container
from pathlib import Path
from typing import Any

import pytest

from onceproof.history.matrix import BROKEN_SHARE_MIN
from onceproof.trial.planning.scenario import load_scenario, scenario_names, variant_names
from onceproof.trial.planning.scenario_text import to_toml

pytestmark = [pytest.mark.jury, pytest.mark.timeout(3600)]

# All that go along versions, and their variants that break on one of them.
BUGS = [name for name in scenario_names() if load_scenario(name).axis is not None]
VARIANTS = [
    variant
    for name in BUGS
    for variant in (f"{name}:{other}" for other in variant_names(name))
    if "BROKEN" in load_scenario(variant).versions.values() and not load_scenario(variant).luck
]
BAD_VERSIONS = [
    (scenario, version)
    for scenario in (*BUGS, *VARIANTS)
    for version, verdict in load_scenario(scenario).versions.items()
    if verdict == "BROKEN"
]
REPEATS = 20
DELAYED = "kafka_17754_delayed_end_txn"


def onceproof(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "onceproof", *arguments],
        capture_output=True,
        text=True,
        timeout=3500,
        check=False,
    )


def matrix(*arguments: str, exit_codes: Container[int] = (0,)) -> dict[str, Any]:
    ended = onceproof("matrix", *arguments, "--json")
    assert ended.returncode in exit_codes, ended.stderr[-3000:] + ended.stdout[-3000:]
    (told,) = json.loads(ended.stdout)
    return dict(told)


def verdict_of(*arguments: str) -> dict[str, Any]:
    ended = onceproof("run", *arguments, "--json")
    assert ended.returncode in (0, 1, 2), ended.stderr[-3000:]
    return dict(json.loads(ended.stdout))


@pytest.mark.parametrize("scenario", [*BUGS, *VARIANTS])
def test_each_version_ends_as_history_says(scenario: str, tmp_path: Path) -> None:
    told = matrix(scenario, "--runs-dir", str(tmp_path))
    for row in told["rows"]:
        found = load_scenario(scenario).expect_anomalies if row["verdict"] == "BROKEN" else ()
        assert sorted(row["anomalies"]) == sorted(found), row
    assert {row["verdict"] for row in told["rows"]} == {"HELD", "BROKEN"}


@pytest.mark.parametrize("scenario", [*BUGS, *VARIANTS])
def test_without_its_cause_it_holds_on_every_version(scenario: str, tmp_path: Path) -> None:
    told = matrix(f"{scenario}:control", "--runs-dir", str(tmp_path))
    assert {row["version"]: row["verdict"] for row in told["rows"]} == dict.fromkeys(
        load_scenario(scenario).versions, "HELD"
    )


@pytest.mark.parametrize(("scenario", "version"), BAD_VERSIONS)
def test_it_comes_nearly_every_time(scenario: str, version: str, tmp_path: Path) -> None:
    told = matrix(
        *(scenario, "--versions", version, "--repeat", str(REPEATS), "--runs-dir", str(tmp_path)),
        exit_codes=(0, 1, 2),  # a trial that ends otherwise says so, and some may
    )
    (row,) = told["rows"]
    assert row["of"] == REPEATS
    assert row["broken"] / REPEATS >= BROKEN_SHARE_MIN, row


@pytest.mark.parametrize("scenario", [DELAYED, f"{DELAYED}:lost_write"])
def test_it_comes_nearly_every_time_with_librdkafka(scenario: str, tmp_path: Path) -> None:
    """It is in no matrix: its version is the one that is installed."""
    words = (scenario, "--suspect", "consumer_transactional", "--runs-dir", str(tmp_path))
    verdicts = [verdict_of(*words) for _ in range(REPEATS)]
    found = {finding["anomaly"] for verdict in verdicts for finding in verdict["findings"]}
    broken = sum(verdict["verdict"] == "BROKEN" for verdict in verdicts)
    assert found == set(load_scenario(scenario).expect_anomalies)
    assert broken / REPEATS >= BROKEN_SHARE_MIN, [verdict["reasons"] for verdict in verdicts]


def test_a_delayed_abort_finds_another_epoch_in_our_sink(tmp_path: Path) -> None:
    """The delayed commit: test_wire_at_work.py."""
    words = (f"{DELAYED}:lost_write", "--suspect", "spark_exactly_once")
    held = verdict_of(*words, "--runs-dir", str(tmp_path))
    assert held["verdict"] == "HELD", held["reasons"]


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
