"""The injector's and the judge's Spark: one session in this process, started beside the cluster."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.jars.spark_jvm import SparkJvm, spark_jvm
from onceproof.process import ensure_ward

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXIT_S_MAX = 60.0


class JudgeSpark:
    """Ends its JVM in order: the first one to do so leaves the class-data archive for all later."""

    def __init__(self, session: "SparkSession", gateway: Any, jvm: SparkJvm) -> None:
        self.session = session
        self._gateway = gateway
        self._jvm = jvm

    @staticmethod
    def start(logs: Path, scratch: Path) -> "JudgeSpark":
        from pyspark import SparkConf, SparkContext
        from pyspark.java_gateway import launch_gateway
        from pyspark.sql import SparkSession

        ensure_ward()  # before the JVM: it must carry our mark
        os.environ["PYSPARK_PYTHON"] = sys.executable
        jvm = spark_jvm("judge")
        conf = SparkConf().setAll(_configuration(jvm, scratch))
        with (logs / "judge-spark.log").open("ab") as log:
            # Its own log, not our terminal.
            gateway = launch_gateway(conf, {"stdout": log, "stderr": log})  # type: ignore[no-untyped-call]
        session = SparkSession(SparkContext(conf=conf, gateway=gateway))
        session.sparkContext.setLogLevel("ERROR")
        return JudgeSpark(session, gateway, jvm)

    def apart(self) -> "JudgeSpark":
        """The same JVM with settings of its own, for judgements beside each other. Not stopped."""
        return JudgeSpark(self.session.newSession(), self._gateway, self._jvm)

    def stop(self) -> None:
        from pyspark import SparkContext

        self.session.stop()
        self._gateway.shutdown()
        process = self._gateway.proc
        process.stdin.close()  # the JVM ends when this end of the pipe is closed
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=EXIT_S_MAX)
        SparkContext._gateway = None  # a later session starts a JVM of its own
        SparkContext._jvm = None
        self._jvm.keep_archive()


def _configuration(jvm: SparkJvm, scratch: Path) -> list[tuple[str, str]]:
    return [
        ("spark.app.name", "onceproof judge"),
        ("spark.master", "local[2]"),
        ("spark.driver.host", "127.0.0.1"),
        ("spark.driver.bindAddress", "127.0.0.1"),
        ("spark.ui.enabled", "false"),
        ("spark.ui.showConsoleProgress", "false"),
        ("spark.driver.memory", "2g"),
        ("spark.driver.extraClassPath", jvm.classpath),
        ("spark.driver.extraJavaOptions", jvm.java_options),
        ("spark.local.dir", str(scratch)),
        ("spark.sql.warehouse.dir", str(scratch / "warehouse")),
        ("spark.sql.shuffle.partitions", "4"),
        ("spark.sql.session.timeZone", "UTC"),
        # For each column Python would tell the JVM where in our code it stands: that takes a third
        # of Python's part of a judgement.
        ("spark.python.sql.dataFrameDebugging.enabled", "false"),
        # What a web page would show of jobs that are over: there is no page, and thousands of jobs.
        ("spark.ui.retainedJobs", "10"),
        ("spark.ui.retainedStages", "10"),
        ("spark.ui.retainedTasks", "100"),
        ("spark.sql.ui.retainedExecutions", "10"),
    ]
