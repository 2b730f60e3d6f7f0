"""Outages on real brokers: the configuration that fails does so as seen, and its cure holds."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from onceproof.trial.planning.scenario import load_scenario

pytestmark = [pytest.mark.jury, pytest.mark.timeout(400)]
EVICTED = "poll_interval_eviction"


def run(scenario: str, runs: Path, cure: str | None = None) -> dict[str, Any]:
    chosen = scenario if cure is None else f"{scenario}:{cure}"
    ended = subprocess.run(
        [sys.executable, "-m", "onceproof", "run", chosen, "--runs-dir", str(runs), "--json"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode in (0, 1, 2), ended.stderr[-3000:]
    verdict: dict[str, Any] = json.loads(ended.stdout)
    return verdict


def outcome(verdict: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    return verdict["verdict"], tuple(finding["anomaly"] for finding in verdict["findings"])


def notes(runs: Path) -> list[str]:
    lines = (runs / "latest" / "history" / "events.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    return [event["detail"]["text"] for event in events if event["kind"] == "note"]


def longest_s(verdict: dict[str, Any]) -> float:
    """How long work stood still after one of its faults."""
    return max(fault["recovery_s"] for fault in verdict["faults"])


@pytest.mark.parametrize(
    ("scenario", "cure"),
    [
        (EVICTED, None),
        (EVICTED, "polling"),
        ("empty_poll_after_seek", None),
        ("empty_poll_after_seek", "to_end"),
        ("outage_two_of_three", None),
        ("outage_two_of_three", "longer_calls"),
        ("outage_isolated_broker", None),
        ("outage_isolated_broker", "longer_calls"),
        ("outage_dead_address", None),
        ("outage_dead_address", "without_it"),
        ("outage_fast_restart", None),
        ("outage_continuous", None),
    ],
)
def test_each_ends_as_it_expects(scenario: str, cure: str | None, tmp_path: Path) -> None:
    known = load_scenario(scenario)
    expected = known if cure is None else known.cures[cure]
    verdict = run(scenario, tmp_path, cure)
    assert outcome(verdict) == (expected.expect, expected.expect_anomalies), verdict["reasons"]
    told = notes(tmp_path)
    assert all(any(each in note for note in told) for each in expected.seen), told


def test_an_evicted_member_is_evicted_again_and_again(tmp_path: Path) -> None:
    run(EVICTED, tmp_path)
    left = [note for note in notes(tmp_path) if "due to consumer poll timeout" in note]
    assert len(left) >= 2, left


def test_a_member_under_its_own_name_does_not_wait_for_its_dead_self(tmp_path: Path) -> None:
    unnamed = run("outage_client_restart", tmp_path)
    named = run("outage_client_restart", tmp_path, "static_membership")
    assert (unnamed["verdict"], named["verdict"]) == ("HELD", "HELD")
    assert longest_s(named) + 5 < longest_s(unnamed)
