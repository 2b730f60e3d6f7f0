"""Kafka's own command line tools, run as their scripts run them: main classes from the jars."""

import subprocess
from collections.abc import Sequence

from onceproof import jars
from onceproof.cluster.jvm import DEFAULT_VERSION, broker_software

OFFSETS = "org.apache.kafka.tools.GetOffsetShell"
GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
TRANSACTIONS = "org.apache.kafka.tools.TransactionsCommand"
TOOL_S_MAX = 60
QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
QUIET = "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"

Row = list[str]


class KafkasTools:
    def __init__(self, bootstrap_server: str) -> None:
        software = broker_software(DEFAULT_VERSION)
        tools = jars.classpath(f"tools-{DEFAULT_VERSION}")
        classpath = ":".join(map(str, [*tools, *software.jars]))
        self._java = [software.java, *QUICK, QUIET, "-cp", classpath]
        self._cluster = ["--bootstrap-server", bootstrap_server]

    def start(self, tool: str, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self._java, tool, *self._cluster, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *calls: Sequence[str]) -> list[list[Row]]:
        """Side by side; of each what it printed, as words."""
        return [rows(started) for started in [self.start(*call) for call in calls]]


def rows(started: subprocess.Popen[str]) -> list[Row]:
    with started:
        printed, _ = started.communicate(timeout=TOOL_S_MAX)
    assert started.returncode == 0, printed
    return [line.split() for line in printed.splitlines() if line.strip()]
