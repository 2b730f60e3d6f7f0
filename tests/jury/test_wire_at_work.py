"""Faults at exact frames, on real brokers: the verdicts that theory asks for, each at its cell."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.jury, pytest.mark.timeout(3600)]


def onceproof(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "onceproof", *arguments],
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )


def swept(tmp_path: Path, only: str, *more: str) -> dict[str, tuple[str, list[str]]]:
    """Cell → outcome and anomalies."""
    ended = onceproof("sweep", "--only", only, "--runs-dir", str(tmp_path), "--json", *more)
    assert ended.returncode in (0, 1), ended.stderr[-3000:]
    cells = json.loads(ended.stdout)["cells"]
    return {f"{cell['side']}-{cell['act']}": (cell["outcome"], cell["anomalies"]) for cell in cells}


def test_output_then_commit_repeats_where_the_commit_is_lost(tmp_path: Path) -> None:
    cells = swept(tmp_path, "OffsetCommit", "--suspect", "consumer_manual_commit")
    assert cells["request-kill"] == ("broken", ["duplicated"])
    # The broker has taken the offsets: whoever comes next goes on behind them.
    assert cells["response-kill"] == ("held", [])


def test_commit_then_output_loses_where_the_commit_is_all_that_was_done(tmp_path: Path) -> None:
    cells = swept(tmp_path, "OffsetCommit", "--suspect", "consumer_commit_first")
    assert cells["response-kill"] == ("broken", ["lost"])
    assert cells["request-kill"] == ("held", [])


def test_one_transaction_for_both_holds_wherever_its_end_is_hit(tmp_path: Path) -> None:
    cells = swept(tmp_path, "EndTxn", "--suspect", "consumer_transactional")
    assert set(cells.values()) == {("held", [])}
    assert len(cells) == 7


def test_a_frame_that_is_never_sent_is_not_reached_and_not_passed(tmp_path: Path) -> None:
    ended = onceproof(
        "sweep", "--only", "ConsumerGroupHeartbeat", "--suspect", "consumer_manual_commit",
        "--runs-dir", str(tmp_path), "--json",
    )  # fmt: skip
    assert ended.returncode == 2, ended.stderr[-3000:]
    assert json.loads(ended.stdout)["counts"] == {
        "held": 0,
        "broken": 0,
        "unknown": 0,
        "not reached": 7,
    }


@pytest.mark.parametrize(
    ("suspect", "verdict"),
    [
        (("--suspect", "consumer_transactional"), "BROKEN"),
        (("--suspect", "consumer_java", "--set", "clients=3.8.0"), "BROKEN"),
        (("--suspect", "consumer_java", "--set", "clients=4.3.1"), "HELD"),
        (("--suspect", "spark_exactly_once"), "HELD"),
        # Its producer is the same from batch to batch, but not its epoch.
        (("--suspect", "spark_exactly_once", "--set", "small_batch_bytes=16777216"), "HELD"),
    ],
)
def test_a_delayed_end_of_a_transaction(
    suspect: tuple[str, ...], verdict: str, tmp_path: Path
) -> None:
    ended = onceproof(
        "run", "kafka_17754_delayed_end_txn", *suspect, "--runs-dir", str(tmp_path), "--json"
    )
    result = json.loads(ended.stdout)
    assert result["verdict"] == verdict, result["reasons"]
    assert [fault["applied"] for fault in result["faults"]] == [True]
    found = [finding["anomaly"] for finding in result["findings"]]
    assert found == (["duplicated"] if verdict == "BROKEN" else [])
    refused = "was refused with error" in result["faults"][0]["evidence"]
    assert refused == (verdict == "HELD"), result["faults"]


def test_a_zombie_comes_back_and_a_broker_loses_the_controllers(tmp_path: Path) -> None:
    ended = onceproof("run", "tc04_zombie_fencing", "--runs-dir", str(tmp_path), "--json")
    result = json.loads(ended.stdout)
    assert result["verdict"] == "HELD", result["reasons"]
    assert [fault["applied"] for fault in result["faults"]] == [True, True]
