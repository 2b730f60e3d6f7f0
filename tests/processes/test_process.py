"""Children die with us. Tested by doing it: real processes, real SIGKILL."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from onceproof import warden
from onceproof.deadline import Deadline, wait_until
from onceproof.process import Child, own_environment, spawn

# A family as Spark makes it: a grandchild in a group of its own, and one in a session of its own.
FAMILY = (
    "setsid sleep 300 & python3 -c 'import os,time; os.setpgid(0,0); time.sleep(300)' & sleep 300"
)


def start_family(tmp_path: Path) -> Child:
    child = spawn("family", ["bash", "-c", FAMILY], log=tmp_path / "family.log")
    wait_until(lambda: len(child.family()) >= 4, Deadline(10), "the family did not grow up")
    return child


def test_kill_ends_grandchildren_in_other_groups_and_sessions(tmp_path: Path) -> None:
    child = start_family(tmp_path)
    child.kill()
    assert child.family() == []
    assert child.exit_code() == -signal.SIGKILL


def test_pause_stops_the_whole_family_and_resume_lets_it_go_on(tmp_path: Path) -> None:
    child = start_family(tmp_path)
    child.pause()
    assert child.is_paused()
    child.resume()
    wait_until(lambda: not child.is_paused(), Deadline(5), "still paused")
    child.kill()


def test_a_paused_family_can_be_killed(tmp_path: Path) -> None:
    child = start_family(tmp_path)
    child.pause()
    child.kill()
    assert child.family() == []


def test_stop_is_clean_where_the_child_obeys_and_says_so_where_it_does_not(tmp_path: Path) -> None:
    obedient = spawn("obedient", ["sleep", "300"], log=tmp_path / "a.log")
    assert obedient.stop(Deadline(5)) is True
    deaf = spawn(
        "deaf",
        ["bash", "-c", "trap '' TERM; echo up; sleep 300 & wait; wait"],
        log=tmp_path / "b.log",
    )
    wait_until(lambda: "up" in deaf.log_tail(), Deadline(5), "not up")
    assert deaf.stop(Deadline(0.3)) is False
    assert deaf.family() == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_when_the_owner_is_killed(tmp_path: Path, number: int) -> None:
    program = textwrap.dedent(f"""
        from pathlib import Path
        from onceproof.process import spawn
        child = spawn("family", ["bash", "-c", {FAMILY!r}], log=Path({str(tmp_path / "f.log")!r}))
        stopped = spawn("stopped", ["sleep", "301"], log=Path({str(tmp_path / "s.log")!r}))
        from onceproof.deadline import Deadline, wait_until
        wait_until(lambda: len(child.family()) >= 4, Deadline(10), "not grown up")
        stopped.pause()
        print(child._mark, stopped._mark, flush=True)
        wait_until(lambda: False, Deadline(60), "nobody killed us")
    """)
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        marks = owner.stdout.readline().split()
        assert len(marks) == 2
        os.kill(owner.pid, number)
        owner.wait(timeout=10)

    def all_gone() -> bool:
        return not any(
            warden.carries(process, "ONCEPROOF_CHILD", mark)
            for process in warden.processes()
            for mark in marks
        )

    wait_until(all_gone, Deadline(10), "orphans are left")


def test_a_child_that_outlives_us_carries_no_ward(tmp_path: Path) -> None:
    kept = spawn("kept", ["sleep", "300"], log=tmp_path / "kept.log", outlives_us=True)
    (seen,) = kept.family()
    assert b"ONCEPROOF_WARD" not in seen.environment
    kept.kill()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a child as somebody else")
def test_a_child_can_be_somebody_else_and_still_be_ended(tmp_path: Path) -> None:
    child = spawn("other", ["bash", "-c", "id -u -n; id -G -n; sleep 300"],
                  log=tmp_path / "log", cwd=Path("/"), user="nobody")  # fmt: skip
    wait_until(lambda: len(child.log_tail().splitlines()) == 2, Deadline(5), "it said nothing")
    assert child.log_tail().splitlines()[0] == "nobody"
    assert "root" not in child.log_tail()
    child.kill()
    assert child.exit_code() == -signal.SIGKILL


def test_a_child_can_be_started_while_another_thread_sets_variables() -> None:
    """As Spark is started beside the brokers. With the table itself every second one fails."""
    stop = threading.Event()
    names = [f"ONCEPROOF_TEST_{number}" for number in range(5_000)]

    def set_variables() -> None:
        for name in names:
            if stop.is_set():
                return
            os.environ[name] = "set"

    thread = threading.Thread(target=set_variables)
    thread.start()
    try:
        for _ in range(20):
            subprocess.run(["/bin/true"], env=own_environment(), start_new_session=True, check=True)
    finally:
        stop.set()
        thread.join()
        for name in names:
            os.environ.pop(name, None)
