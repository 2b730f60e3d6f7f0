"""The sink on Spark 3.5, 4.0 and the lab's own: the driver is killed, the output comes out once."""

from pathlib import Path

import pytest
from families import jvms, python_workers
from holding import hold_while_writing
from program import Program, told
from venvs import Spark, other_spark, own_spark

from onceproof.cluster.local import LocalCluster

pytestmark = [pytest.mark.jury, pytest.mark.timeout(900)]
BATCHES = 15
BATCH_SIZE = 8_000
BATCHES_BEFORE_THE_KILL = 3
BY_THE_JVM = {
    "lanes": {"--jvm": "yes", "--small-batch-bytes": "0"},
    "whole": {"--jvm": "yes", "--small-batch-bytes": "16777216"},
}
# A batch of the fold is small enough to be written whole, one of the copy is not.
WHOLE_FOLDS = {"--small-batch-bytes": "200000"}


@pytest.mark.parametrize("version", ["3.5", "4.0", "own"])
def test_a_driver_killed_between_the_commits_of_a_batch_goes_on_and_all_comes_out_once(
    version: str, cluster: LocalCluster, tmp_path: Path
) -> None:
    spark = named(version)
    name = f"driver-{version}"
    with Program(
        name, cluster=cluster, spark=spark, folder=tmp_path, master="local[2,4]"
    ) as program:
        given = program.given(records=BATCHES * BATCH_SIZE, keys=500)
        first = program.start("micro-batches", batch_size=BATCH_SIZE, options=WHOLE_FOLDS)
        program.wait_for_batches(BATCHES_BEFORE_THE_KILL)
        held = hold_while_writing(
            lambda: python_workers([first]), cluster.client(), program.outputs()
        )
        assert held.topics() == {f"{name}-copy"}  # the driver itself writes the small fold
        # Tasks run first in, first out: by then all other lanes of this batch have committed.
        program.wait_for_batches(min(len(program.batches("fold")) + 2, BATCHES), of=["fold"])
        assert program.batches("fold")[-1]["cut"] == "whole"  # it may be through by now
        first.kill()
        second = program.start("available-now", batch_size=BATCH_SIZE, options=WHOLE_FOLDS)
        program.wait_for_end()

        assert told(second)[0]["spark"] == spark.version
        program.require_exactly_once(given)
        assert program.batches("copy")[0]["states"] == ["already", "committed"]


@pytest.mark.parametrize("version", ["3.5", "4.0", "own"])
@pytest.mark.parametrize("way", BY_THE_JVM)
def test_a_jvm_killed_in_its_transactions_goes_on_and_all_comes_out_once(
    way: str, version: str, cluster: LocalCluster, tmp_path: Path
) -> None:
    """The sink's Java, compiled by this Spark against its own Kafka client."""
    spark, options = named(version), BY_THE_JVM[way]
    with Program(
        f"jvm-{way}-{version}", cluster=cluster, spark=spark, folder=tmp_path, master="local[2,4]"
    ) as program:
        given = program.given(records=BATCHES * BATCH_SIZE, keys=500)
        first = program.start("micro-batches", batch_size=BATCH_SIZE, options=options)
        program.wait_for_batches(BATCHES_BEFORE_THE_KILL)
        held = hold_while_writing(lambda: jvms([first]), cluster.client(), program.outputs())
        before = {each["writer"] for name in program.pipelines for each in program.batches(name)}
        first.kill()
        second = program.start("available-now", batch_size=BATCH_SIZE, options=options)
        program.wait_for_end()

        assert told(second)[0]["spark"] == spark.version
        program.require_exactly_once(given)
        assert before == {"jvm"}
        for topic in held.topics():
            again, *others = program.batches(topic.rpartition("-")[2])
            # Of lanes the manifest is committed by then; of a whole batch nothing is.
            assert again["writer"] == ("python" if way == "lanes" else "jvm")
            assert (again["cut"] == "whole") == (way == "whole")
            assert {each["writer"] for each in others} == {"jvm"}


def named(version: str) -> Spark:
    return own_spark() if version == "own" else other_spark(version)
