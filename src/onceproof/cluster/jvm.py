"""The command line of a broker's JVM, and which jars and Java it is made of."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from onceproof.cluster.classdata import ClassArchive
from onceproof.errors import unknown_name
from onceproof.jars.own import OwnJars
from onceproof.process import own_environment

JAR_SET_PREFIX = "kafka-"
DEFAULT_VERSION = "4.3.1"
JVM_FLAGS = ("-Xmx512m", "-Xms256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
LOG_FLAGS = (
    "-Dorg.slf4j.simpleLogger.logFile=System.out",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=info",
    # These print every property of every client at each start: half of the log.
    "-Dorg.slf4j.simpleLogger.log.org.apache.kafka.common.config=warn",
    "-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaConfig=warn",
    "-Dorg.slf4j.simpleLogger.log.org.apache.kafka.clients=warn",
)


@dataclass(frozen=True, kw_only=True)
class BrokerSoftware:
    """One Kafka version on this machine's Java."""

    version: str
    java: str
    jars: tuple[Path, ...]
    build: str = ""  # of the user's own jars: what tells them from others of this version

    @property
    def identity(self) -> str:
        """What a formatted directory is kept by: own builds of one version may differ."""
        return f"{self.version}-{self.build}" if self.build else self.version

    @property
    def classpath(self) -> str:
        return ":".join(str(jar) for jar in self.jars)

    def class_archive(self) -> ClassArchive:
        return ClassArchive.of(self.version, _java_identity(self.java), list(self.jars))

    def command(
        self,
        properties_file: Path,
        *,
        jvm_flags: Sequence[str] = JVM_FLAGS,
        class_archive: Path | None = None,
        record_classes_to: Path | None = None,
    ) -> list[str]:
        flags = list(jvm_flags)
        if record_classes_to is not None:
            flags.append(f"-XX:ArchiveClassesAtExit={record_classes_to}")
        elif class_archive is not None:
            # An archive that does not fit is ignored: -Xshare:auto is the default.
            flags.append(f"-XX:SharedArchiveFile={class_archive}")
        return [
            self.java,
            *flags,
            *LOG_FLAGS,
            *("-cp", self.classpath),
            "kafka.Kafka",
            str(properties_file),
        ]


def broker_software(version: str) -> BrokerSoftware:
    """The jars of a version, fetched where they are missing; one that the committed lock does not
    have is locked in the local cache. An unknown one lists the known.
    """
    # Imported late: `onceproof list` asks for versions without touching jars or Java.
    from onceproof import jars, machine
    from onceproof.jars.local_lock import is_lockable

    if not is_lockable(JAR_SET_PREFIX + version):
        raise unknown_name("Kafka version", version, jars.kafka_versions())
    return BrokerSoftware(
        version=version,
        java=str(machine.find_java().executable),
        jars=tuple(jars.classpath(JAR_SET_PREFIX + version)),
    )


def own_software(own: OwnJars) -> BrokerSoftware:
    """Of the user's own build."""
    from onceproof import machine

    return BrokerSoftware(
        version=own.version,
        java=str(machine.find_java().executable),
        jars=tuple(own.with_log_binding(JAR_SET_PREFIX + DEFAULT_VERSION)),
        build=own.digest(),
    )


@cache
def _java_identity(java: str) -> str:
    """The JVM's build, which an archive of classes is bound to."""
    result = subprocess.run(
        [java, "-version"],
        capture_output=True,
        text=True,
        env=own_environment(),
        timeout=30,
        check=False,
    )
    return result.stderr
