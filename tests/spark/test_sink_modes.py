"""The modes of Structured Streaming in which the sink would be unsound: Spark refuses each by name,
because it gives foreachBatch to none of them. If it ever does, this is where we learn of it.
"""

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("options", "trigger", "said"),
    [
        ({}, {"continuous": "1 second"}, "continuous"),
        ({"asyncProgressTrackingEnabled": "true"}, {"processingTime": "1 second"}, "async"),
        ({}, {"realTime": "5 minutes"}, "real"),
    ],
    ids=["continuous", "async progress", "real-time"],
)
def test_a_mode_without_micro_batches_is_refused_by_name(
    spark: SparkSession, tmp_path: Path, options: dict[str, str], trigger: Any, said: str
) -> None:
    rows = spark.readStream.format("rate").load().selectExpr("CAST(value AS STRING) AS value")
    writer = rows.writeStream.foreachBatch(lambda _batch, _number: None).options(**options)
    writer = writer.option("checkpointLocation", str(tmp_path)).trigger(**trigger)
    with pytest.raises(PySparkException) as refused:
        writer.start().processAllAvailable()
    assert said in str(refused.value).lower()
