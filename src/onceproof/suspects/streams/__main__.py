"""python -m onceproof.suspects.streams GUARANTEE: one instance of a Kafka Streams application.

1. The JVM starts in this process, with the version of Streams the settings ask for.
2. Streams gets a topology whose processor is in Python, and its properties.
3. SIGTERM closes it in order; a client that ends up in ERROR ends the process with code 1.
Properties that Streams refuses are told as `misconfigured`, with its own message.
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jpype

from onceproof.suspects.streams.checkpoints import Checkpoints
from onceproof.suspects.streams.jvm import start_jvm
from onceproof.suspects.streams.properties import (
    CONFIG_FILE,
    EXACTLY_ONCE,
    is_cached,
    our_properties,
    own_properties,
    state_bytes,
    watermark_ms,
    work_ms,
)

POLL_S = 0.25
CLOSE_S = 30
MISCONFIGURED = 78  # EX_CONFIG
FINAL = ("ERROR", "NOT_RUNNING")
COMMITS_METRIC = ("stream-thread-metrics", "commit-total")


def main() -> int:
    settings = json.loads(os.environ["ONCEPROOF_SETTINGS"])
    stop = threading.Event()
    start_jvm(settings)
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    try:
        streams = _make_streams(sys.argv[1], settings)
    except jpype.JException as problem:
        refusal = _refusal(problem)
        if refusal is None:
            raise
        _say("misconfigured", why=str(refusal))
        return MISCONFIGURED
    states = _States()
    streams.setStateListener(states)
    ending = _TellAndShutDown()
    streams.setUncaughtExceptionHandler(ending)
    streams.start()
    commits, checkpoints = _Commits(streams), _checkpoints(sys.argv[1], streams)
    while not stop.wait(POLL_S) and states.now not in FINAL:
        commits.tell()
        checkpoints.look(states.now)
    failed = states.now in FINAL
    streams.close(jpype.JClass("java.time.Duration").ofSeconds(CLOSE_S))
    if failed:
        _say("failed", why=ending.why)
        return 1
    _say("stopped")
    return 0


def _make_streams(guarantee: str, settings: Mapping[str, str]) -> Any:
    from onceproof.suspects.streams.topology import Form, make_topology

    workload = os.environ["ONCEPROOF_WORKLOAD"]
    form = Form(
        workload=workload,
        cached=is_cached(settings),
        state_bytes=state_bytes(settings),
        watermark_ms=watermark_ms(settings),
        work_ms=work_ms(settings),
        watch=_tell_if_stale if workload == "last" else lambda _output, _partition: None,
    )
    topology = make_topology(
        form,
        input_topic=os.environ["ONCEPROOF_INPUT_TOPIC"],
        output_topic=os.environ["ONCEPROOF_OUTPUT_TOPIC"],
    )
    properties = _properties(guarantee, settings)
    return jpype.JClass("org.apache.kafka.streams.KafkaStreams")(topology, properties)


def _properties(guarantee: str, settings: Mapping[str, str]) -> Any:
    """Ours, those of the user's file, and those of `--set`: each over those before it."""
    properties = jpype.JClass("java.util.Properties")()
    for name, value in our_properties(guarantee, settings, os.environ).items():
        properties.setProperty(name, value)
    if settings.get(CONFIG_FILE):
        paths, files = jpype.JClass("java.nio.file.Path"), jpype.JClass("java.nio.file.Files")
        properties.load(files.newBufferedReader(paths.of(settings[CONFIG_FILE])))
    for name, value in own_properties(settings).items():
        properties.setProperty(name, value)
    return properties


def _refusal(problem: Any) -> Any:
    """What says that a property is refused: the exception, or what caused it; None: neither.

    One that does not fit another (a transaction shorter than the commit interval) is refused by an
    IllegalArgumentException.
    """
    kinds = (
        jpype.JClass("org.apache.kafka.common.config.ConfigException"),
        jpype.JClass("java.lang.IllegalArgumentException"),
    )
    while problem is not None and not isinstance(problem, kinds):
        problem = problem.getCause()
    return problem


def _checkpoints(guarantee: str, streams: Any) -> Checkpoints:
    """They mean something under exactly-once only; elsewhere nothing is looked at."""
    state_dir = Path(os.environ["ONCEPROOF_STATE_DIR"])
    directory = state_dir / os.environ["ONCEPROOF_APP_ID"]
    watched = directory if guarantee == EXACTLY_ONCE else state_dir / "none"
    return Checkpoints(
        watched, lambda text: _say("note", text=text), lambda: _changelog_ends(streams)
    )


def _changelog_ends(streams: Any) -> dict[str, int]:
    """As Streams itself asks for them; none while it cannot."""
    try:
        lags = streams.allLocalStorePartitionLags()
    except jpype.JException:
        return {}
    app_id = os.environ["ONCEPROOF_APP_ID"]
    return {
        f"{app_id}-{store.getKey()}-changelog-{lag.getKey()}": int(
            lag.getValue().endOffsetPosition()
        )
        for store in lags.entrySet()
        for lag in store.getValue().entrySet()
    }


class _Commits:
    """How often the stream threads have committed, by Streams' own metrics."""

    def __init__(self, streams: Any) -> None:
        self._counters = [
            each.getValue()
            for each in streams.metrics().entrySet()
            if (str(each.getKey().group()), str(each.getKey().name())) == COMMITS_METRIC
        ]
        self._told = 0

    def tell(self) -> None:
        count = sum(int(counter.metricValue()) for counter in self._counters)
        if count > self._told:
            _say("committed", commits=count - self._told)
            self._told = count


def _tell_if_stale(output: str, partition: int) -> None:
    """What people watch for while it runs; the judge looks at the topic."""
    said = json.loads(output)
    if said["found"] != said["expected"]:
        _say("stale", expected=said["expected"], found=said["found"], partition=partition)


@jpype.JImplements("org.apache.kafka.streams.KafkaStreams$StateListener", deferred=True)
class _States:
    def __init__(self) -> None:
        self.now = "CREATED"
        self._has_started = False

    @jpype.JOverride
    def onChange(self, now: Any, _before: Any) -> None:
        self.now = str(now.name())
        if self.now == "RUNNING" and not self._has_started:
            self._has_started = True
            _say("started")


@jpype.JImplements("org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler", deferred=True)
class _TellAndShutDown:
    def __init__(self) -> None:
        self.why = ""

    @jpype.JOverride
    def handle(self, exception: Any) -> Any:
        self.why = f"{exception}; caused by {exception.getCause()}"
        _say("exception", why=self.why)
        responses = jpype.JClass(
            "org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler"
            "$StreamThreadExceptionResponse"
        )
        return responses.SHUTDOWN_CLIENT


def _say(event: str, **facts: object) -> None:
    sys.stdout.write(json.dumps({"event": event, **facts}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
