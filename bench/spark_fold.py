"""The Spark side of bench/sink_against_streams.py, a process of its own: fold, and our sink.

Prints one JSON line when it has read all there was: the micro-batches by Spark's own account.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from sink_stage import LZ4, READ_TUNED, number_of, run_to_the_end, spark_session

from onceproof.sink import exactly_once_kafka


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--input", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--scratch", required=True, type=Path)
    parser.add_argument("--threads", required=True)
    parser.add_argument("--lanes", required=True, type=int)
    parser.add_argument("--batch-records", required=True)
    asked = parser.parse_args()
    options = {"kafka.bootstrap.servers": asked.bootstrap}
    sink = exactly_once_kafka(
        sink_id=f"to-{asked.output}",
        topic=asked.output,
        lanes=asked.lanes,
        options={**options, **LZ4},
    )
    settings = {"spark.sql.shuffle.partitions": asked.threads}
    with spark_session(f"local[{asked.threads}]", asked.scratch, **settings) as (session, _):
        source = read(
            session,
            asked.input,
            {**options, **READ_TUNED, "maxOffsetsPerTrigger": asked.batch_records},
        )
        writer = fold(source).writeStream.outputMode("update").foreachBatch(sink)
        batches = run_to_the_end(writer, asked.scratch)
    sys.stdout.write(json.dumps([asdict(batch) for batch in batches]) + "\n")


def read(session: SparkSession, topic: str, options: dict[str, str]) -> DataFrame:
    source = session.readStream.format("kafka").options(**options)
    return source.options(subscribe=topic, startingOffsets="earliest").load()


def fold(source: DataFrame) -> DataFrame:
    """Count and maximum per key, written as StreamsFold.java writes them."""
    numbers = source.select(F.col("key").cast("string"), number_of("value").alias("number"))
    folded = numbers.groupBy("key").agg(
        F.count(F.lit(1)).alias("count"), F.max("number").alias("max")
    )
    return folded.select("key", F.concat_ws(" ", "count", "max").alias("value"))


if __name__ == "__main__":
    main()
