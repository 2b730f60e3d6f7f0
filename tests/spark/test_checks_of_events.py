"""died and stuck: what the event log alone shows."""

from typing import Any

from histories import case_of, event, sample, sentences
from pyspark.sql import SparkSession

START = [event(0, "phase", "feed"), event(1, "started", "instance 1", pid=7)]


def told(spark: SparkSession, check: str, *events: tuple[Any, ...]) -> list[str]:
    return sentences(case_of(spark, events=[*START, *events], stuck_after_s=10.0), check)


def test_died_is_an_exit_nobody_asked_for(spark: SparkSession) -> None:
    exits = [
        event(9, "exited", "instance 1", code=-9, asked="true", log="logs/instance-1.log"),
        event(
            12.34,
            "exited",
            "instance 2",
            code=1,
            asked="false",
            log="logs/instance-2.log",
            tail="Traceback\nValueError: no such topic\n",
        ),
        event(20, "exited", "instance 3", code=-11, asked="false", log="logs/instance-3.log"),
    ]
    assert told(spark, "died", *exits) == [
        'instance 2 ended unasked at 12.3 s, exit code 1, last words "ValueError: no such topic": '
        "died. See logs/instance-2.log.",
        "instance 3 ended unasked at 20.0 s, killed by signal 11: died. See logs/instance-3.log.",
    ]


def test_an_exit_we_brought_about_is_no_death(spark: SparkSession) -> None:
    killed = event(9, "exited", "instance 1", code=-9, asked="true", log="logs/instance-1.log")
    assert told(spark, "died", killed) == []


def test_nor_is_a_sigkill_that_nobody_of_ours_has_sent(spark: SparkSession) -> None:
    """The kernel's, for want of memory: the run ends there, and nothing can be said."""
    killed = event(9, "exited", "instance 1", code=-9, asked="false", log="logs/instance-1.log")
    assert told(spark, "died", killed) == []


def test_stuck_is_input_left_and_nothing_that_moves(spark: SparkSession) -> None:
    drain = [
        event(20, "phase", "drain"),
        sample(21, 500, 300),
        sample(25, 600, 200),
        sample(30, 600, 200),
        sample(36.5, 600, 200),
        event(37, "phase", "judge"),
    ]
    assert told(spark, "stuck", *drain) == [
        "nothing moved for 11.5 s (from 25.0 s to 36.5 s of the run) with 200 input records left, "
        "an instance running and no fault in force: stuck."
    ]


def test_the_last_sample_of_a_drain_may_be_as_late_as_its_end(spark: SparkSession) -> None:
    drain = [
        event(20, "phase", "drain"),
        sample(25, 600, 200),
        sample(34.9, 600, 200),
        sample(35, 600, 200),
        event(35, "phase", "settle"),
    ]
    assert [sentence[:22] for sentence in told(spark, "stuck", *drain)] == [
        "nothing moved for 10.0"
    ]


def test_a_slow_run_is_not_stuck(spark: SparkSession) -> None:
    slow = [sample(20 + 9 * step, 500 + step, 300 - step) for step in range(5)]
    assert told(spark, "stuck", event(20, "phase", "drain"), *slow) == []


def test_a_run_with_no_input_left_is_not_stuck(spark: SparkSession) -> None:
    drained = [sample(21, 800, 0), sample(60, 800, 0)]
    assert told(spark, "stuck", event(20, "phase", "drain"), *drained) == []


def test_a_standstill_that_ended_before_the_drain_did_is_not_stuck(spark: SparkSession) -> None:
    late = [sample(21, 500, 300), sample(60, 500, 300), sample(61, 800, 0)]
    assert told(spark, "stuck", event(20, "phase", "drain"), *late) == []
    outside = [event(15, "phase", "fault"), sample(21, 500, 300), sample(60, 500, 300)]
    assert told(spark, "stuck", *outside) == []


def test_who_waits_for_more_input_does_not_stand_still(spark: SparkSession) -> None:
    idle = [sample(21, 500, 0), sample(40, 500, 0)]
    at_work = [sample(41, 500, 100), sample(49, 500, 100)]
    assert told(spark, "stuck", event(20, "phase", "drain"), *idle, *at_work) == []
    still = [*idle, *at_work, sample(50.5, 500, 100)]
    assert [each[:22] for each in told(spark, "stuck", event(20, "phase", "drain"), *still)] == [
        "nothing moved for 10.5"
    ]


def test_a_fault_in_force_excuses_a_standstill(spark: SparkSession) -> None:
    still = [event(20, "phase", "drain"), sample(21, 5, 3), sample(60, 5, 3)]
    pause = event(18, "fault", "broker 2", action="pause", applied="true")
    assert told(spark, "stuck", pause, *still) == []
    healed_late = event(55, "healed", "broker 2", action="pause")
    assert told(spark, "stuck", pause, *still, healed_late) == []
    healed_early = event(19, "healed", "broker 2", action="pause")
    assert len(told(spark, "stuck", pause, *still, healed_early)) == 1
    refused = event(18, "fault", "broker 2", action="pause", applied="false")
    assert len(told(spark, "stuck", refused, *still)) == 1


def test_a_killed_instance_is_no_excuse_once_it_started_again(spark: SparkSession) -> None:
    kill = [
        event(17, "fault", "instance 1", action="kill", applied="true"),
        event(17, "exited", "instance 1", code=-9, asked="true"),
    ]
    still = [event(20, "phase", "drain"), sample(21, 5, 3), sample(60, 5, 3)]
    assert told(spark, "stuck", *kill, *still) == []
    assert len(told(spark, "stuck", *kill, event(19, "started", "instance 1"), *still)) == 1


def test_one_that_took_long_to_start_is_given_its_time_from_then_on(spark: SparkSession) -> None:
    still = [event(20, "phase", "drain"), sample(21, 5, 3), sample(35, 5, 3)]
    says = event(30, "said", "instance 1", event="started")
    assert told(spark, "stuck", *still, says) == []
    early = event(12, "said", "instance 1", event="started")
    # It begins anew, and gets no further.
    assert len(told(spark, "stuck", *still, early, says)) == 1
    chatter = event(30, "said", "instance 1", event="committed")
    assert len(told(spark, "stuck", *still, chatter)) == 1


def test_each_drain_of_a_loop_is_judged_by_itself(spark: SparkSession) -> None:
    loop = [
        event(20, "phase", "drain"),
        sample(21, 5, 3),
        sample(40, 5, 3),
        event(41, "phase", "feed"),
        sample(42, 9, 0),
        event(43, "phase", "drain"),
        sample(44, 9, 0),
    ]
    assert [sentence[:22] for sentence in told(spark, "stuck", *loop)] == ["nothing moved for 19.0"]
