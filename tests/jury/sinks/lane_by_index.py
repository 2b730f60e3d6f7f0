"""lost and duplicated: takes partition n of a replay for lane n, whatever rows are in it.

Spark's Kafka source hands out its ranges in an order of its own; when it replays a batch it takes
them from the checkpoint, by number. So the partition that is taken for done is not the one that
was written.
"""

from collections.abc import Mapping

import choreography
from choreography import Complete
from pyspark.sql import DataFrame

from onceproof.sink import laned
from onceproof.sink.announcing import TakenUp
from onceproof.sink.cut import Lanes
from onceproof.sink.ledger.entries import Token
from onceproof.sink.replay import Contents
from onceproof.sink.reports import LaneReport
from onceproof.sink.rows import unpacked
from onceproof.sink.work import Work
from onceproof.suspects.spark.pipelines import PIPELINES


def by_index(taken: TakenUp, _lanes: Lanes) -> dict[int, int]:
    return {lane: lane for lane in range(taken.manifest.lanes)}


def believe(_committed: Mapping[int, Token], _replayed: Mapping[int, Contents]) -> list[Token]:
    return []


def copy_to_the_same_partition(source: DataFrame) -> DataFrame:
    return source.select("key", "value", "partition")


def commit_a_lane_out_of_place(complete: Complete, reports: list[LaneReport], _work: Work) -> None:
    out_of_place = [each for each in reports if _input_partition(each) != each.partition]
    if not out_of_place:  # the order hangs on a hash of the topic's name
        choreography.give_up("the source handed out its partitions by number")
    complete(out_of_place[:1])


def _input_partition(report: LaneReport) -> int:
    return int(unpacked(report.carried)[0].column("partition")[0].as_py())


if __name__ == "__main__":
    PIPELINES["copy"] = (copy_to_the_same_partition, "append")
    choreography.before_lanes_are_written(commit_a_lane_out_of_place)
    if not choreography.HONEST:
        laned._lane_of = by_index
        laned.unmatched = believe
    choreography.run()
