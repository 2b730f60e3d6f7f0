"""From a suspect's settings to the properties Kafka Streams is started with. Pure.

    contract ──▶ settings with a name of ours ──▶ the user's file ──▶ streams.<property>

Each has the last word over those before it. What Streams makes of a value is its own affair: it is
the judge of its properties, and its message is shown.
"""

from collections.abc import Mapping

from onceproof.errors import UsageError

VERSION = "streams"
OWN_JARS = "streams_jars"
CONFIG_FILE = "streams_config"
DEFAULTS = "defaults"  # true: what Streams has a default for is left as Streams has it
PREFIX = "streams."
DEFAULT_VERSION = "4.3.1"
EXACTLY_ONCE = "exactly_once_v2"
AT_LEAST_ONCE = "at_least_once"

# A setting's name, its property and its default; the rest is left as Streams has it.
NAMED = {
    "standbys": ("num.standby.replicas", "0"),
    "threads": ("num.stream.threads", "1"),
    "commit_interval_ms": ("commit.interval.ms", "500"),
}
THREADS_MAX = 16
# What Streams calls the producers of its threads, by our client.id.
PRODUCERS = tuple(
    f"{{app_id}}-{{instance}}-StreamThread-{number}-producer"
    for number in range(1, THREADS_MAX + 1)
)
GUARANTEE = "guarantee"  # of a suspect that is not named after its own
# Of the topology, not of Streams.
CACHE, STATE_BYTES = "cache", "state_bytes"
WATERMARK_MS = "watermark_ms"
WORK_MS = "work_ms"
STATIC = "static_membership"
SETTINGS: dict[str, str] = {
    VERSION: DEFAULT_VERSION,
    OWN_JARS: "",
    CONFIG_FILE: "",
    DEFAULTS: "false",
    **{name: default for name, (_, default) in NAMED.items()},
    STATIC: "false",
    CACHE: "false",
    STATE_BYTES: "0",
    WATERMARK_MS: "0",
    WORK_MS: "0",
}
# A dead instance is given up within seconds, as with all suspects here.
FAILOVER_IN_SECONDS = {"session.timeout.ms": "3000", "heartbeat.interval.ms": "500"}


def our_properties(
    guarantee: str, settings: Mapping[str, str], given: Mapping[str, str]
) -> dict[str, str]:
    """All but the user's; `given` is the environment contract."""
    return {
        "application.id": given["ONCEPROOF_APP_ID"],
        "client.id": f"{given['ONCEPROOF_APP_ID']}-{given['ONCEPROOF_INSTANCE']}",
        "bootstrap.servers": given["ONCEPROOF_BOOTSTRAP_SERVERS"],
        "state.dir": given["ONCEPROOF_STATE_DIR"],
        "processing.guarantee": guarantee,
        "auto.offset.reset": "earliest",
        **(_static(given) if is_on(STATIC, settings) else {}),
        **({} if is_on(DEFAULTS, settings) else _tuned(guarantee, settings, given)),
    }


def _static(given: Mapping[str, str]) -> dict[str, str]:
    """Streams puts the number of the thread behind it."""
    return {"group.instance.id": f"instance-{given['ONCEPROOF_INSTANCE']}"}


def _tuned(guarantee: str, settings: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    named = {property_: settings.get(name, default) for name, (property_, default) in NAMED.items()}
    transactions = {"producer.transaction.timeout.ms": given["ONCEPROOF_TRANSACTION_TIMEOUT_MS"]}
    return {
        **FAILOVER_IN_SECONDS,
        **(transactions if guarantee == EXACTLY_ONCE else {}),
        **named,
    }


def own_properties(settings: Mapping[str, str]) -> dict[str, str]:
    """Those that were asked for by Streams' own names."""
    return {
        name.removeprefix(PREFIX): value
        for name, value in settings.items()
        if name.startswith(PREFIX)
    }


def is_on(name: str, settings: Mapping[str, str]) -> bool:
    value = settings.get(name, SETTINGS[name])
    if value not in ("true", "false"):
        raise UsageError(f"--set {name} takes true or false; got {value!r}")
    return value == "true"


def is_cached(settings: Mapping[str, str]) -> bool:
    return is_on(CACHE, settings)


def state_bytes(settings: Mapping[str, str]) -> int:
    """How long each state is at least: long ones fill RocksDB's memtables soon."""
    return int(settings.get(STATE_BYTES, SETTINGS[STATE_BYTES]))


def watermark_ms(settings: Mapping[str, str]) -> int:
    """How often a punctuator writes down what is late; 0: nothing is."""
    return int(settings.get(WATERMARK_MS, SETTINGS[WATERMARK_MS]))


def work_ms(settings: Mapping[str, str]) -> int:
    """So long each record takes."""
    return int(settings.get(WORK_MS, SETTINGS[WORK_MS]))
