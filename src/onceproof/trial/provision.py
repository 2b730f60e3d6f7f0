"""Fetches the jars a run needs before anything starts, so that one sees what is waited for."""

from onceproof import jars
from onceproof.cluster.jvm import JAR_SET_PREFIX
from onceproof.databases.catalog import DATABASES
from onceproof.deadline import Deadline
from onceproof.faults.jvm.byteman import JAR_SET as AGENT_SET
from onceproof.history.event import EventLog
from onceproof.jars.local_lock import is_committed
from onceproof.jars.lock import STREAMS_PREFIX
from onceproof.jars.spark_jvm import CONNECTOR_SET
from onceproof.suspects.streams.properties import OWN_JARS, VERSION
from onceproof.trial.planning.plan import Plan

TELL_EVERY_S = 0.2
# A suspect's setting that is a version, and the jars it means.
SETS_OF_SETTINGS = {"clients": JAR_SET_PREFIX, "streams": STREAMS_PREFIX}


def require_database(plan: Plan) -> None:
    """MachineError where the suspect needs a server that is not on this machine."""
    database = DATABASES.get(plan.suspect.position)
    if database is not None:
        database.require()


def provision(plan: Plan, events: EventLog) -> None:
    """All jars in the cache; those missing come over the network, told as `fetch` events."""
    require_database(plan)
    for name in dict.fromkeys(_sets(plan)):
        if not is_committed(name):
            text = f"{name} is not in the committed lock: looked for, and locked in the local cache"
            events.write("note", "jars", text=text)
        quiet = Deadline(0)

        def tell(done: int, total: int, name: str = name) -> None:
            nonlocal quiet
            if quiet.expired() or done == total:
                quiet = Deadline(TELL_EVERY_S)
                events.write("fetch", name, done_bytes=done, total_bytes=total)

        jars.classpath(name, tell)


def _sets(plan: Plan) -> list[str]:
    """Not of what is the user's own build."""
    settings = plan.settings
    database = DATABASES.get(plan.suspect.position)
    chosen = [name for name in SETS_OF_SETTINGS if name in (plan.suspect.settings or {})]
    brokers_locked = plan.bootstrap_server is None and plan.kafka_jars is None
    return [
        CONNECTOR_SET,
        *([JAR_SET_PREFIX + plan.scenario.kafka] if brokers_locked else []),
        *(
            SETS_OF_SETTINGS[name] + settings[name]
            for name in chosen
            if not (name == VERSION and settings[OWN_JARS])
        ),
        *([database.jar_set] if database is not None and database.jar_set else []),
        *([AGENT_SET] if any(step.needs_agent for step in plan.schedule) else []),
    ]
