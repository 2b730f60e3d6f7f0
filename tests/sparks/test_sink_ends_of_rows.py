"""Rows that Spark breaks off are seen as that on Spark 3.5, 4.0 and the lab's own."""

import subprocess
from pathlib import Path

import pytest
from program import SOURCE, without_other_sparks
from venvs import Spark, other_spark, own_spark

pytestmark = [pytest.mark.jury, pytest.mark.timeout(900)]
PROGRAM = Path(__file__).with_name("ending.py")
RUN_S_MAX = 120.0


@pytest.mark.parametrize("version", ["3.5", "4.0", "own"])
def test_rows_are_all_only_where_spark_ends_them(version: str) -> None:
    spark: Spark = own_spark() if version == "own" else other_spark(version)
    ended = subprocess.run(
        [str(spark.python), str(PROGRAM)],
        env={**without_other_sparks(), "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=RUN_S_MAX,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    broken, whole = ended.stdout.splitlines()
    assert broken.startswith(f"{spark.version} broken: ")
    assert "and the end" not in broken
    if version != "3.5":  # which throws away what it has not sent: mostly a batch itself is torn
        assert broken.endswith(": 20000 and no end")
    assert whole == f"{spark.version} whole: 45000 and the end"
