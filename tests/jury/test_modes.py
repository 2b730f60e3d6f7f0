"""Ways to consume on real brokers: each keeps what it claims, and the planted liar is convicted."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.jury, pytest.mark.timeout(1800)]


def told(*arguments: str) -> dict[str, Any]:
    ended = subprocess.run(
        [sys.executable, "-m", "onceproof", *arguments, "--json"],
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
    )
    assert ended.returncode in (0, 1, 2), ended.stderr[-3000:]
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer


def found(verdict: dict[str, Any]) -> list[str]:
    return [finding["anomaly"] for finding in verdict["findings"]]


def test_who_restores_before_it_fences_writes_again_and_who_fences_first_does_not(
    tmp_path: Path,
) -> None:
    scenario = ("run", "restore_before_fence", "--runs-dir", str(tmp_path))
    liar = told(*scenario)
    assert (liar["verdict"], found(liar)) == ("BROKEN", ["duplicated"]), liar["reasons"]
    honest = told(*scenario, "--suspect", "consumer_own_offsets")
    assert honest["verdict"] == "HELD", honest["reasons"]


def test_each_mode_keeps_what_it_claims_and_breaks_where_theory_says(tmp_path: Path) -> None:
    faults = "none,mid_batch,torn,late_commit,rebalance,pause"
    table = told("compare", "--brokers", "1", "--faults", faults, "--runs-dir", str(tmp_path))
    measured = table["measured"]
    for mode in ("transactional", "own_offsets", "sqlite", "postgres", "cassandra"):
        assert measured[f"consumer_{mode}"] == "exactly once", table
    assert measured["consumer_manual_commit"] == "at least once"
    assert measured["consumer_idempotent"] == "at least once"
    assert measured["consumer_commit_first"] == "at most once"
    assert measured["consumer_restore_first"] == "at least once"  # it claims exactly once
    torn = {cell["mode"]: cell for cell in table["cells"] if cell["fault"] == "torn"}
    assert "lost" in torn["consumer_auto_commit"]["trials"][0]["anomalies"]


KILLED = """
description = "killed once, between its rows and its position"
suspect = "consumer_cassandra"
workload = "copy"
records = 600
brokers = 1
feed_s = 3
expect = "HELD"

[[faults]]
action = "kill"
target = "instance:0"
at = "30%"
aim = "{aim}"

[settings]
batch = "20"
work_ms = "5"
write = "{write}"
"""


@pytest.mark.parametrize(
    ("write", "aim", "verdict", "anomalies"),
    [
        ("keys", "mid_output", "HELD", []),
        ("lwt", "at_once", "HELD", []),  # rows and position at once: nobody sees them apart
        ("append", "mid_output", "BROKEN", ["duplicated"]),
    ],
)
def test_without_transactions_the_keys_or_a_condition_make_it_once(
    tmp_path: Path, write: str, aim: str, verdict: str, anomalies: list[str]
) -> None:
    scenario = tmp_path / "killed.toml"
    scenario.write_text(KILLED.format(write=write, aim=aim))
    run = told("run", str(scenario), "--runs-dir", str(tmp_path))
    assert (run["verdict"], found(run)) == (verdict, anomalies), run["reasons"]
    assert [fault["applied"] for fault in run["faults"]] == [True]
