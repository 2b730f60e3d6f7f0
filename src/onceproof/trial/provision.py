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
from onceproof.trial.plan import Plan

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
    database = DATABASES.get(plan.suspect.position)
    own_brokers = plan.bootstrap_server is None
    names = [CONNECTOR_SET]
    names += [JAR_SET_PREFIX + plan.scenario.kafka] if own_brokers else []
    names += [
        prefix + plan.settings[setting]
        for setting, prefix in SETS_OF_SETTINGS.items()
        if setting in (plan.suspect.settings or {})
    ]
    names += [database.jar_set] if database is not None and database.jar_set else []
    names += [AGENT_SET] if any(step.needs_agent for step in plan.schedule) else []
    for name in dict.fromkeys(names):
        if not is_committed(name):
            text = f"{name} is not in the committed lock: resolved, and locked in the local cache"
            events.write("note", "jars", text=text)
        quiet = Deadline(0)

        def tell(done: int, total: int, name: str = name) -> None:
            nonlocal quiet
            if quiet.expired() or done == total:
                quiet = Deadline(TELL_EVERY_S)
                events.write("fetch", name, done_bytes=done, total_bytes=total)

        jars.classpath(name, tell)
