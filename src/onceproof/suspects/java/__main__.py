"""python -m onceproof.suspects.java NAME: become the Java program of that name.

Its jars are of the version that a setting asks for: `streams` for StreamsWorkloads, `clients` for
the others.
"""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from onceproof import jars
from onceproof.jars.lock import KAFKA_PREFIX
from onceproof.machine import find_java
from onceproof.suspects.streams.logs import logging_flags
from onceproof.suspects.streams.own_jars import streams_classpath
from onceproof.suspects.streams.properties import (
    CONFIG_FILE,
    GUARANTEE,
    is_cached,
    our_properties,
    own_properties,
    state_bytes,
    watermark_ms,
    work_ms,
)

# A small program that lives for seconds: compiled as far as that pays.
JVM_FLAGS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
STREAMS, OWN_OFFSETS = "StreamsWorkloads", "OwnOffsets"


def main() -> None:
    name = sys.argv[1]
    settings = json.loads(os.environ["ONCEPROOF_SETTINGS"])
    is_streams = name == STREAMS
    found = streams_classpath(settings) if is_streams else clients_classpath(settings)
    classpath = os.pathsep.join(map(str, found))
    source = Path(__file__).parent / f"{name}.java"
    java = str(find_java().executable)
    flags = [*JVM_FLAGS, *(logging_flags() if name in (STREAMS, OWN_OFFSETS) else ())]
    # In our place: signals meant for the suspect reach it, and nothing stands in between.
    os.execv(java, [java, *flags, "-cp", classpath, str(source), *arguments(name, settings)])


def arguments(name: str, settings: Mapping[str, str]) -> list[str]:
    if name == STREAMS:
        return streams_arguments(settings, os.environ)
    return [f"{key}={value}" for key, value in settings.items()] if name == OWN_OFFSETS else []


def clients_classpath(settings: Mapping[str, str]) -> list[Path]:
    return jars.classpath(KAFKA_PREFIX + settings["clients"])


def streams_arguments(settings: Mapping[str, str], given: Mapping[str, str]) -> list[str]:
    """As StreamsWorkloads.java takes them; what the user's file says does not stand in them."""
    ours = our_properties(settings[GUARANTEE], settings, given)
    file = settings.get(CONFIG_FILE)
    return [
        given["ONCEPROOF_WORKLOAD"],
        given["ONCEPROOF_INPUT_TOPIC"],
        given["ONCEPROOF_OUTPUT_TOPIC"],
        str(is_cached(settings)).lower(),
        str(state_bytes(settings)),
        str(watermark_ms(settings)),
        str(work_ms(settings)),
        *(f"{name}={value}" for name, value in ours.items()),
        *([f"@{file}"] if file else []),
        *(f"{name}={value}" for name, value in own_properties(settings).items()),
    ]


if __name__ == "__main__":
    main()
