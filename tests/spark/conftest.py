"""One local Spark session for all tests of this folder, with the judge's own settings but small."""

import os
import sys
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from onceproof.trial.judging.small import SETTINGS


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .appName("onceproof-tests")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.ansi.enabled", "true")
        .config("spark.sql.session.timeZone", "UTC")
        # As the judge's JVM (jars/spark_jvm.py): tests are too short for C2 to pay off.
        .config("spark.driver.extraJavaOptions", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1")
        .config("spark.python.sql.dataFrameDebugging.enabled", "false")
        # As the judge does with small inputs: these are smaller still.
        .config(map=dict(SETTINGS))
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
