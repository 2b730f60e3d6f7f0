"""All actions and targets by name. The name is the scenario's and the command line's name."""

from collections.abc import Callable

from onceproof.errors import unknown_name
from onceproof.faults.fault import Fault
from onceproof.faults.kill import Kill
from onceproof.faults.pause import Pause
from onceproof.faults.restart import Restart
from onceproof.faults.stop import Stop
from onceproof.faults.victim import Victim

ACTIONS: dict[str, tuple[Callable[[Victim], Fault], str]] = {
    "kill": (Kill, "SIGKILL; healed by starting it again"),
    "pause": (Pause, "SIGSTOP; healed by SIGCONT"),
    "stop": (Stop, "SIGTERM, a clean end; healed by starting it again"),
    "restart": (Restart, "a clean end and a start right after it"),
}

TARGETS: dict[str, str] = {
    "instance:N": "one instance of the suspect",
    "instance:random": "any running instance, by the seed",
    "broker:N": "one broker",
    "broker:random": "any running broker, by the seed",
    "broker:leader": "the leader of a partition of the output topic (partition by the seed)",
    "broker:group_coordinator": "the coordinator of the suspect's consumer group",
    "broker:transaction_coordinator": "the coordinator of the suspect's transactional id",
    "broker:controller": "the active controller",
}


def make_fault(action: str, victim: Victim) -> Fault:
    return find_action(action)(victim)


def find_action(action: str) -> Callable[[Victim], Fault]:
    if action not in ACTIONS:
        raise unknown_name("action", action, ACTIONS)
    return ACTIONS[action][0]
