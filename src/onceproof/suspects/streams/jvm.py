"""The JVM inside an instance's process: one for its whole life, with one version of Streams."""

from collections.abc import Mapping

import jpype

from onceproof.machine import find_java
from onceproof.suspects.streams.logs import logging_flags
from onceproof.suspects.streams.own_jars import streams_classpath

FLAGS = (
    "-Xmx384m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",  # a program that lives for seconds: compiled as far as that pays
    "-Xshare:auto",
    "-Xrs",  # SIGTERM is Python's
)


def start_jvm(settings: Mapping[str, str]) -> None:
    library = find_java().home / "lib" / "server" / "libjvm.so"
    jpype.startJVM(
        str(library),
        *FLAGS,
        *logging_flags(),
        classpath=[str(jar) for jar in streams_classpath(settings)],
        convertStrings=False,
    )
