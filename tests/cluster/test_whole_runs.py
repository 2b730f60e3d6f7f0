"""The command as a user starts it: verdicts, exit codes, stored runs, nothing left behind."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from onceproof import warden
from onceproof.deadline import Deadline, pause, wait_until
from onceproof.history.event import read_events

RUN_S_MAX = 500.0
LEFT_S_MAX = 10.0


def onceproof(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "onceproof", *arguments],
        capture_output=True,
        text=True,
        timeout=RUN_S_MAX,
        check=False,
    )


@pytest.fixture(scope="module")
def chaos(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess]:
    """The main job, as the README has it."""
    runs = tmp_path_factory.mktemp("runs")
    return runs / "latest", onceproof("run", "--runs-dir", str(runs))


def test_the_main_job_holds_with_all_nine_faults_applied(chaos: tuple) -> None:
    run, ended = chaos
    assert ended.returncode == 0, ended.stderr[-3000:]
    verdict = json.loads((run / "verdict.json").read_text())
    assert verdict["verdict"] == "HELD"
    assert len([fault for fault in verdict["faults"] if fault["applied"]]) == 9
    assert verdict["counts"]["input"] == 6_400
    assert verdict["counts"]["output_aborted"] > 0  # the kills did hit open transactions
    assert ended.stdout.splitlines()[-1].startswith("HELD  ")
    for name in (
        "report.html",
        "report.txt",
        "run.json",
        "logs/broker-1.log",
        "logs/instance-0.log",
    ):
        assert (run / name).stat().st_size > 0


def test_a_stored_run_is_judged_and_drawn_again_without_running_it(chaos: tuple) -> None:
    run, _ = chaos
    stored = (run / "report.html").read_bytes()
    again = onceproof("check", str(run))
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines()[-1] == "HELD (stored: HELD)"
    assert onceproof("report", str(run)).returncode == 0
    assert (run / "report.html").read_bytes() == stored


@pytest.mark.jury
def test_sparks_own_sink_is_broken_with_witnesses_and_exit_code_1(tmp_path: Path) -> None:
    ended = onceproof("run", "tc02_at_least_once", "--runs-dir", str(tmp_path), "--json")
    assert ended.returncode == 1, ended.stderr[-3000:]
    verdict = json.loads(ended.stdout)
    assert [finding["anomaly"] for finding in verdict["findings"]] == ["duplicated"]
    witness = verdict["findings"][0]["witnesses"][0]
    assert {"topic", "partition", "offset", "key"} <= set(witness)
    assert "duplicated. It was written " in witness["sentence"]
    assert "after kill(instance 0)" in witness["sentence"]


def started(runs: Path) -> bool:
    """Brokers, the judge's Spark and the suspect's own Spark are all up."""
    log = runs / "latest" / "history" / "events.jsonl"
    return log.exists() and any(
        event.kind == "said" and event.detail.get("event") == "started"
        for event in read_events(log)
    )


def family_of(mark: str) -> list[warden.Seen]:
    return [each for each in warden.processes() if warden.carries(each, "ONCEPROOF_TEST", mark)]


@pytest.mark.parametrize(
    "number",
    [signal.SIGKILL, signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.jury)],
)
def test_nothing_is_left_of_a_run_that_is_ended_half_way(tmp_path: Path, number: int) -> None:
    mark = f"half-way-{number}-{os.getpid()}"
    with (tmp_path / "output").open("wb") as output:
        command = subprocess.Popen(
            [sys.executable, "-m", "onceproof", "run", "tc01_normal", "--runs-dir", str(tmp_path)],
            stdout=output,
            stderr=output,
            env={**os.environ, "ONCEPROOF_TEST": mark},
        )
        wait_until(lambda: started(tmp_path), Deadline(180), "the run did not come up")
        assert len(family_of(mark)) >= 6  # ours, the warden, three brokers, two JVMs …
        os.kill(command.pid, number)
        command.wait(timeout=60)
    pause(0.1)
    wait_until(
        lambda: not family_of(mark),
        Deadline(LEFT_S_MAX),
        lambda: f"left behind: {[each.pid for each in family_of(mark)]}",
    )
    if number != signal.SIGKILL:
        assert "Traceback" not in (tmp_path / "output").read_text()
        assert command.returncode == 255
        assert "everything it started has been ended" in (tmp_path / "output").read_text()


def test_a_cluster_to_play_with_outlives_the_command_until_it_is_taken_down(tmp_path: Path) -> None:
    place = ("--directory", str(tmp_path / "cluster"))
    up = onceproof("cluster", "up", "--brokers", "1", *place)
    assert up.returncode == 0, up.stderr
    try:
        status = onceproof("cluster", "status", "--json", *place)
        assert json.loads(status.stdout)["running"] == [1]
        again = onceproof("cluster", "up", *place)
        assert (again.returncode, "runs" in again.stderr) == (254, True)
    finally:
        down = onceproof("cluster", "down", *place)
    assert down.returncode == 0, down.stderr
    assert onceproof("cluster", "status", *place).returncode == 254
