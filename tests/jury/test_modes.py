"""Ways to consume on real brokers: each keeps what it claims, and the planted liar is convicted."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from onceproof.deadline import Deadline, wait_until
from onceproof.history.event import read_events

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
    # Paused after its commit, it writes behind its successor: nothing fences it.
    assert measured["consumer_commit_first"] in ("at most once", "at most once, reordered")
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


def database_is_up(runs: Path) -> bool:
    log = runs / "latest" / "history" / "events.jsonl"
    return log.exists() and any(
        event.detail.get("text") == "its database is up" for event in read_events(log)
    )


def standing_in(*folders: str) -> list[str]:
    """Processes whose working directory is below one of these: a server's hide their marks."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            place = str(Path(f"/proc/{pid}/cwd").readlink())
        except OSError:
            continue
        if any(folder in place for folder in folders):
            found.append(pid)
    return found


@pytest.mark.parametrize("mode", ["consumer_postgres", "consumer_cassandra"])
def test_a_killed_onceproof_leaves_no_database_behind(tmp_path: Path, mode: str) -> None:
    asked = ("run", "tc01_normal", "--suspect", mode, "--workload", "copy")
    command = subprocess.Popen(
        [sys.executable, "-m", "onceproof", *asked, "--runs-dir", str(tmp_path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    # Below the run directory; where we are root, PostgreSQL's is apart, with our pid in its name.
    places = (str(tmp_path), f"onceproof-postgres-{command.pid}-")
    try:
        wait_until(lambda: database_is_up(tmp_path), Deadline(120), "the run did not come up")
        assert len(standing_in(*places)) >= 4  # the brokers, and what the server consists of
    finally:
        command.kill()
        command.wait(timeout=60)
    wait_until(
        lambda: not standing_in(*places),
        Deadline(10),
        lambda: f"left behind: {standing_in(*places)}",
    )
