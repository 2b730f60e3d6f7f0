"""Checkpoint files of Kafka Streams: that one comes, stands still, moves and goes is told once."""

from pathlib import Path

import pytest

from onceproof.suspects.streams.checkpoints import FROZEN_AFTER_S, Checkpoints


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def task(tmp_path: Path) -> Path:
    folder = tmp_path / "0_1"
    folder.mkdir()
    return folder / ".checkpoint"


def test_one_is_told_when_it_comes_stands_moves_and_goes(tmp_path: Path, task: Path) -> None:
    told: list[str] = []
    clock = Clock()
    checkpoints = Checkpoints(tmp_path, told.append, lambda: {"changelog-1": 900}, clock)
    checkpoints.look("REBALANCING")
    task.write_text("0\n1\nchangelog 1 500\n")
    checkpoints.look("REBALANCING")
    clock.now_s = FROZEN_AFTER_S
    for _ in range(3):
        checkpoints.look("RUNNING")
    task.write_text("0\n1\nchangelog 1 700\n")
    checkpoints.look("RUNNING")
    task.unlink()
    checkpoints.look("RUNNING")
    assert told == [
        "task 0_1 has a checkpoint on disk: changelog-1 at 500; the client is REBALANCING",
        "the checkpoint of task 0_1 has stood still for 2 s while the client is RUNNING:"
        " changelog-1 at 500; the changelog ends by now: changelog-1 at 900",
        "task 0_1 has a checkpoint on disk: changelog-1 at 700; the client is RUNNING",
        "the checkpoint of task 0_1 is gone",
    ]


def test_one_that_stands_while_the_task_restores_is_no_news(tmp_path: Path, task: Path) -> None:
    told: list[str] = []
    clock = Clock()
    task.write_text("0\n0\n")
    checkpoints = Checkpoints(tmp_path, told.append, lambda: {"changelog-1": 900}, clock)
    checkpoints.look("REBALANCING")
    clock.now_s = 10 * FROZEN_AFTER_S
    checkpoints.look("REBALANCING")
    assert told == ["task 0_1 has a checkpoint on disk: empty; the client is REBALANCING"]


def test_no_directory_no_news(tmp_path: Path) -> None:
    told: list[str] = []
    Checkpoints(tmp_path / "none", told.append).look("RUNNING")
    assert told == []
