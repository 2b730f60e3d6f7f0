"""The sink on Spark 3.5, 4.0 and the lab's own: the driver is killed, the output comes out once."""

from pathlib import Path

import pytest
from families import python_workers
from holding import hold_while_writing
from program import Program, told
from venvs import Spark, other_spark, own_spark

from onceproof.cluster.local import LocalCluster

pytestmark = [pytest.mark.jury, pytest.mark.timeout(900)]
RECORDS = 120_000
BATCH_SIZE = 8_000
BATCHES_BEFORE_THE_KILL = 3


@pytest.mark.parametrize("version", ["3.5", "4.0", "own"])
def test_a_driver_killed_between_the_commits_of_a_batch_goes_on_and_all_comes_out_once(
    version: str, cluster: LocalCluster, tmp_path: Path
) -> None:
    spark: Spark = own_spark() if version == "own" else other_spark(version)
    name = f"driver-{version}"
    with Program(
        name, cluster=cluster, spark=spark, folder=tmp_path, master="local[2,4]"
    ) as program:
        given = program.given(records=RECORDS, keys=500)
        first = program.start("micro-batches", batch_size=BATCH_SIZE)
        program.wait_for_batches(BATCHES_BEFORE_THE_KILL)
        held = hold_while_writing(
            lambda: python_workers([first]), cluster.client(), program.outputs()
        )
        cut, other = ("fold", "copy") if f"{name}-fold" in held.topics() else ("copy", "fold")
        # Tasks run first in, first out: by then all other lanes of the cut batch have committed.
        program.wait_for_batches(len(program.batches(other)) + 2, of=[other])
        first.kill()
        second = program.start("available-now", batch_size=BATCH_SIZE)
        program.wait_for_end()

        assert told(second)[0]["spark"] == spark.version
        assert program.batches(cut)[0]["states"] == ["already", "committed"]
        program.require_exactly_once(given)
