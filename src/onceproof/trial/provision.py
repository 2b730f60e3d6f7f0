"""Fetches the jars a run needs before anything starts, so that one sees what is waited for."""

from onceproof import jars
from onceproof.cluster.jvm import JAR_SET_PREFIX
from onceproof.deadline import Deadline
from onceproof.faults.jvm.byteman import JAR_SET as AGENT_SET
from onceproof.history.event import EventLog
from onceproof.jars.spark_jvm import CONNECTOR_SET
from onceproof.trial.plan import Plan

TELL_EVERY_S = 0.2


def provision(plan: Plan, events: EventLog) -> None:
    """All jars in the cache; those missing come over the network, told as `fetch` events."""
    own_brokers = plan.bootstrap_server is None
    kafkas = [plan.scenario.kafka] if own_brokers else []
    if plan.suspect.settings is not None and "clients" in plan.settings:
        kafkas.append(plan.settings["clients"])
    needed = [CONNECTOR_SET, *(JAR_SET_PREFIX + each for each in kafkas)]
    if any(step.needs_agent for step in plan.schedule):
        needed.append(AGENT_SET)
    for name in dict.fromkeys(needed):
        quiet = Deadline(0)

        def tell(done: int, total: int, name: str = name) -> None:
            nonlocal quiet
            if quiet.expired() or done == total:
                quiet = Deadline(TELL_EVERY_S)
                events.write("fetch", name, done_bytes=done, total_bytes=total)

        jars.classpath(name, tell)
