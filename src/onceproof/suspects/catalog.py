"""All suspects by name. The name is the command line's name."""

import shlex
import sys
from dataclasses import replace

from onceproof.errors import UsageError, unknown_name
from onceproof.suspects.streams.logs import EVIDENCE
from onceproof.suspects.streams.properties import AT_LEAST_ONCE, EXACTLY_ONCE, GUARANTEE
from onceproof.suspects.streams.properties import PREFIX as STREAMS_PREFIX
from onceproof.suspects.streams.properties import PRODUCERS as STREAMS_PRODUCERS
from onceproof.suspects.streams.properties import SETTINGS as STREAMS_SETTINGS
from onceproof.suspects.suspect import Guarantee, PositionHome, Suspect

_SPARK_JOB = (sys.executable, "-m", "onceproof.suspects.spark.job")
_CONSUMER = (sys.executable, "-m", "onceproof.suspects.consumers")
_CONSUMER_SETTINGS = {
    "batch": "100",
    "work_ms": "0",
    "group_protocol": "classic",
    "assignor": "range",
    "static_membership": "false",
    "max_poll_interval_ms": "300000",
    "session_timeout_ms": "3000",
}
_OWN_TOPICS = ("offsets", "snapshots")
_OWN_SETTINGS = {"snapshot_every": "50", "restore_s": "0", **_CONSUMER_SETTINGS}
_EVICTED = "consumer poll timeout has expired"  # so a Java consumer says why it leaves its group
_STREAMS = (sys.executable, "-m", "onceproof.suspects.streams")
_STREAMS_BACK_S = 9.0  # a JVM, the session of the dead member, a rebalance, its state
_SPARK_SETTINGS = {
    "lanes": "2",
    # A trial's batches are small; through lanes is the harder way to write them.
    "small_batch_bytes": "0",
    "small_lane_bytes": "65536",  # the sink's own default; 0: executors write every lane
    "jvm": "true",  # lanes by Spark's own JVM, as the sink does by itself; replays by Python
    "max_offsets_per_trigger": "auto",
    "parallelism": "2",
}

SUSPECTS: dict[str, Suspect] = {
    suspect.name: suspect
    for suspect in (
        Suspect(
            name="spark_exactly_once",
            description="PySpark Structured Streaming with onceproof's transactional Kafka sink",
            argv=(*_SPARK_JOB, "exactly_once"),
            guarantee=Guarantee.EXACTLY_ONCE,
            position=PositionHome.SPARK_CHECKPOINT,
            offsets_in_group=False,
            transactional=True,
            settings=_SPARK_SETTINGS,
            spark=True,
            instances_max=1,
        ),
        Suspect(
            name="spark_builtin_sink",
            description="the same job with Spark's own Kafka sink, which is at-least-once",
            argv=(*_SPARK_JOB, "builtin"),
            guarantee=Guarantee.AT_LEAST_ONCE,
            position=PositionHome.SPARK_CHECKPOINT,
            offsets_in_group=False,
            transactional=False,
            settings=_SPARK_SETTINGS,
            spark=True,
            instances_max=1,
        ),
        Suspect(
            name="consumer_auto_commit",
            description="a plain consumer: the client commits by itself (or processing=thread)",
            argv=(*_CONSUMER, "auto_commit"),
            guarantee=Guarantee.NONE,
            torn_at="OffsetCommit response",
            position=PositionHome.GROUP,
            offsets_in_group=True,
            workloads=("copy",),
            transactional=False,
            settings={"processing": "loop", "commit_interval_ms": "200", **_CONSUMER_SETTINGS},
        ),
        Suspect(
            name="consumer_manual_commit",
            description="a plain consumer: output first, then its offsets",
            argv=(*_CONSUMER, "manual_commit"),
            guarantee=Guarantee.AT_LEAST_ONCE,
            torn_at="OffsetCommit request",
            position=PositionHome.GROUP,
            offsets_in_group=True,
            workloads=("copy",),
            transactional=False,
            settings={"commit": "batch", **_CONSUMER_SETTINGS},
        ),
        Suspect(
            name="consumer_commit_first",
            description="a plain consumer: its offsets first, then output",
            argv=(*_CONSUMER, "commit_first"),
            guarantee=Guarantee.AT_MOST_ONCE,
            torn_at="OffsetCommit response",
            position=PositionHome.GROUP,
            offsets_in_group=True,
            workloads=("copy",),
            transactional=False,
            settings=_CONSUMER_SETTINGS,
        ),
        Suspect(
            name="consumer_idempotent",
            description="a plain consumer: an idempotent producer, offsets apart",
            argv=(*_CONSUMER, "idempotent"),
            guarantee=Guarantee.AT_LEAST_ONCE,
            torn_at="OffsetCommit request",
            position=PositionHome.GROUP,
            offsets_in_group=True,
            workloads=("copy",),
            transactional=False,
            settings=_CONSUMER_SETTINGS,
        ),
        Suspect(
            name="consumer_transactional",
            description="a plain consumer: output and offsets in one transaction",
            argv=(*_CONSUMER, "transactional"),
            guarantee=Guarantee.EXACTLY_ONCE,
            torn_at="EndTxn request",
            position=PositionHome.GROUP,
            offsets_in_group=True,
            workloads=("copy",),
            transactional=True,
            settings={"after_abort": "committed", **_CONSUMER_SETTINGS},
        ),
        Suspect(
            name="consumer_own_offsets",
            description="output and offset in one transaction, the offset in a topic of its own",
            argv=(*_CONSUMER, "own_offsets"),
            guarantee=Guarantee.EXACTLY_ONCE,
            torn_at="EndTxn request",
            position=PositionHome.OWN_TOPIC,
            offsets_in_group=False,
            workloads=("copy", "fold"),
            transactional=True,
            topics=_OWN_TOPICS,
            settings=_OWN_SETTINGS,
        ),
        Suspect(
            name="consumer_restore_first",
            description="wrong on purpose: the same, but it restores first and fences then",
            argv=(*_CONSUMER, "restore_first"),
            guarantee=Guarantee.EXACTLY_ONCE,
            is_liar=True,
            torn_at="EndTxn request",
            position=PositionHome.OWN_TOPIC,
            offsets_in_group=False,
            workloads=("copy", "fold"),
            transactional=True,
            topics=_OWN_TOPICS,
            settings=_OWN_SETTINGS,
        ),
        Suspect(
            name="consumer_sqlite",
            description="result and offset in one transaction of SQLite's; its table is judged",
            argv=(*_CONSUMER, "sqlite"),
            guarantee=Guarantee.EXACTLY_ONCE,
            position=PositionHome.SQLITE,
            offsets_in_group=False,
            workloads=("copy",),
            transactional=False,
            settings={"batch": "100", "work_ms": "0"},
            instances_max=1,
        ),
        Suspect(
            name="consumer_postgres",
            description="the same on a PostgreSQL server, with a group that shares the work out",
            argv=(*_CONSUMER, "postgres"),
            guarantee=Guarantee.EXACTLY_ONCE,
            torn_at="before_position",
            position=PositionHome.POSTGRES,
            offsets_in_group=False,
            workloads=("copy",),
            transactional=False,
            settings=_CONSUMER_SETTINGS,
        ),
        Suspect(
            name="consumer_cassandra",
            description="keys that come again the same (or write=lwt), on a Cassandra server",
            argv=(*_CONSUMER, "cassandra"),
            guarantee=Guarantee.EXACTLY_ONCE,
            torn_at="mid_output",
            position=PositionHome.CASSANDRA,
            offsets_in_group=False,
            workloads=("copy",),
            transactional=False,
            settings={"write": "keys", **_CONSUMER_SETTINGS},
        ),
        Suspect(
            name="consumer_java",
            description="consumer_transactional in Java, with the clients of any Kafka"
            " (clients=VERSION)",
            guarantee=Guarantee.EXACTLY_ONCE,
            argv=(sys.executable, "-m", "onceproof.suspects.java", "TransactionalCopy"),
            position=PositionHome.GROUP,
            offsets_in_group=True,
            workloads=("copy",),
            transactional=True,
            settings={"clients": "4.3.1"},
        ),
        Suspect(
            name="consumer_java_own_offsets",
            description="a service in Java with its offsets in a topic of its own; any setting of"
            " its clients by name (consumer.request.timeout.ms=…, producer.…)",
            guarantee=Guarantee.EXACTLY_ONCE,
            argv=(sys.executable, "-m", "onceproof.suspects.java", "OwnOffsets"),
            position=PositionHome.OWN_TOPIC,
            offsets_in_group=False,
            workloads=("copy",),
            transactional=True,
            topics=("offsets",),
            settings={
                "clients": "4.3.1",
                "restore": "polling",
                "restore_s": "0",
                "read": "to_end",
                "poll_ms": "10000",
                "request_ms": "30000",
                "call_ms": "60000",
                "api_timeout_ms": "",
                "bootstrap_from": "0",
                "work_ms": "0",
            },
            open_prefixes=("consumer.", "producer."),
            log_evidence=(_EVICTED,),
        ),
        Suspect(
            name="streams_exactly_once",
            description="Kafka Streams of any version (streams=VERSION), exactly_once_v2",
            argv=(*_STREAMS, EXACTLY_ONCE),
            guarantee=Guarantee.EXACTLY_ONCE,
            position=PositionHome.GROUP,
            offsets_in_group=True,
            transactional=True,
            settings=STREAMS_SETTINGS,
            open_prefixes=(STREAMS_PREFIX,),
            log_evidence=EVIDENCE,
            producer_clients=STREAMS_PRODUCERS,
            back_s=_STREAMS_BACK_S,
            locks_state=True,
        ),
        Suspect(
            name="streams_at_least_once",
            description="the same with at_least_once",
            argv=(*_STREAMS, AT_LEAST_ONCE),
            guarantee=Guarantee.AT_LEAST_ONCE,
            position=PositionHome.GROUP,
            offsets_in_group=True,
            transactional=False,
            settings=STREAMS_SETTINGS,
            open_prefixes=(STREAMS_PREFIX,),
            log_evidence=EVIDENCE,
            producer_clients=STREAMS_PRODUCERS,
            back_s=_STREAMS_BACK_S,
            locks_state=True,
        ),
        Suspect(
            name="streams_java",
            description="the same topologies in Java, without Python in between",
            argv=(sys.executable, "-m", "onceproof.suspects.java", "StreamsWorkloads"),
            position=PositionHome.GROUP,
            offsets_in_group=True,
            settings={**STREAMS_SETTINGS, GUARANTEE: EXACTLY_ONCE},
            open_prefixes=(STREAMS_PREFIX,),
            log_evidence=EVIDENCE,
            producer_clients=STREAMS_PRODUCERS,
            back_s=_STREAMS_BACK_S,
            locks_state=True,
        ),
        Suspect(
            name="command",
            description='the user\'s own program, given by --command "…"',
            argv=(),
            position=PositionHome.GROUP,
            settings=None,
        ),
    )
}


def find_suspect(name: str, command: str | None = None) -> Suspect:
    """The suspect of that name; `command` is the user's own command line, for `command` only."""
    if name not in SUSPECTS:
        raise unknown_name("suspect", name, SUSPECTS)
    suspect = SUSPECTS[name]
    if suspect.name != "command":
        if command is not None:
            raise UsageError(f"--command goes with the suspect 'command'; got suspect {name!r}")
        return suspect
    try:
        words = shlex.split(command or "")
    except ValueError as error:
        raise UsageError(f"--command {command!r} cannot be read: {error}") from error
    if not words:
        raise UsageError("suspect 'command' needs --command \"…\": the program to put on trial")
    return replace(suspect, argv=tuple(words))
