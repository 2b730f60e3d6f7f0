"""Bugs of Kafka Streams on real brokers: versions that have them, those that do not, and controls.

A control is the same scenario without its fault: it must be acquitted on the bad version, too.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from onceproof import jars
from onceproof.cluster.local import LocalCluster
from onceproof.machine import find_java
from onceproof.suspects.suspect import ALL_WORKLOADS
from onceproof.trial.program import to_toml
from onceproof.trial.scenario import load_scenario, make_scenario

REPRODUCTION = Path(__file__).parents[2] / "docs" / "findings" / "SkipAfterCorrupted.java"
pytestmark = [pytest.mark.jury, pytest.mark.timeout(1200)]

# Scenario, a version that has the bug, one that does not, and what the bug does.
BUGS = [
    ("kafka_20685_stale_checkpoint", "4.1.2", "4.3.1", "lost"),
    ("kafka_14624_stale_cache", "3.3.1", "3.9.1", "stale"),
    ("streams_skip_after_corrupted", "4.3.1", "3.7.2", "lost"),
    ("kafka_17455_quota", "3.8.0", "4.3.1", "stuck"),
]
# What is left of the schedule where nothing is wrong; and no quota.
HARMLESS = ("restart", "toggle")


def onceproof(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "onceproof", *arguments],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def verdict_of(runs_dir: Path, *arguments: str) -> dict[str, Any]:
    ended = onceproof("run", *arguments, "--runs-dir", str(runs_dir), "--json")
    assert ended.returncode in (0, 1, 2), ended.stderr[-3000:]
    verdict: dict[str, Any] = json.loads(ended.stdout)
    return verdict


def found(verdict: dict[str, Any]) -> list[str]:
    return [finding["anomaly"] for finding in verdict["findings"]]


@pytest.mark.parametrize(("scenario", "bad", "good", "anomaly"), BUGS)
def test_a_bug_is_found_where_it_is_and_nowhere_else(
    scenario: str, bad: str, good: str, anomaly: str, tmp_path: Path
) -> None:
    broken = verdict_of(tmp_path, scenario, "--streams", bad)
    assert (broken["verdict"], found(broken)) == ("BROKEN", [anomaly]), broken["reasons"]
    held = verdict_of(tmp_path, scenario, "--streams", good)
    assert held["verdict"] == "HELD", held["reasons"]


@pytest.mark.parametrize(("scenario", "bad"), [(name, bad) for name, bad, _, _ in BUGS])
def test_without_its_fault_the_bad_version_is_acquitted(
    scenario: str, bad: str, tmp_path: Path
) -> None:
    shipped = load_scenario(scenario)
    if shipped.program is not None:
        held = verdict_of(tmp_path, scenario, "--streams", bad, "--program", "1")
    else:
        harmless = [fault for fault in shipped.faults if fault["action"] in HARMLESS]
        file = tmp_path / f"{scenario}.toml"
        without = {"faults": harmless, "producer_byte_rate": None}
        file.write_text(to_toml(make_scenario({**shipped.model_dump(), **without})))
        held = verdict_of(tmp_path, str(file), "--streams", bad)
    assert held["verdict"] == "HELD", held["reasons"]


def test_the_stale_checkpoint_is_no_artefact_of_python(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, BUGS[0][0], "--suspect", "streams_java")
    assert (verdict["verdict"], found(verdict)) == ("BROKEN", ["lost"]), verdict["reasons"]


@pytest.mark.parametrize(("version", "code"), [("4.3.1", 1), ("3.7.2", 0)])
def test_the_finding_can_be_reproduced_without_onceproof(
    version: str, code: int, one_broker: LocalCluster
) -> None:
    classpath = os.pathsep.join(map(str, jars.classpath(f"streams-{version}")))
    ended = subprocess.run(
        [find_java().executable, "-cp", classpath, str(REPRODUCTION), one_broker.bootstrap()],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert ended.returncode == code, ended.stdout + ended.stderr[-3000:]
    assert ended.stdout.startswith("fed 8400, committed position 8400, came out ")


@pytest.mark.parametrize("scenario", ["tc01_normal", "tc02_crash_loop", "chaos_loop"])
def test_the_reproduction_stack_holds_with_kafka_streams(scenario: str, tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, scenario, "--suspect", "streams_exactly_once")
    assert verdict["verdict"] == "HELD", verdict["reasons"]


@pytest.mark.parametrize("workload", ALL_WORKLOADS)
@pytest.mark.parametrize("suspect", ["streams_at_least_once", "streams_java"])
def test_each_workload_runs_without_a_fault(suspect: str, workload: str, tmp_path: Path) -> None:
    words = ("tc01_normal", "--suspect", suspect, "--workload", workload, "--records", "1280")
    assert verdict_of(tmp_path, *words, "--set", "brokers=1")["verdict"] == "HELD"


def test_a_property_that_streams_refuses_is_told_in_its_own_words(tmp_path: Path) -> None:
    ended = onceproof(
        "run", "tc01_normal", "--suspect", "streams_exactly_once", "--set", "brokers=1",
        "--set", "streams.num.stream.threads=many", "--runs-dir", str(tmp_path),
    )  # fmt: skip
    assert ended.returncode == 254, ended.stderr[-3000:]
    said = "Invalid value many for configuration num.stream.threads"
    assert said in ended.stderr.splitlines()[-1]
