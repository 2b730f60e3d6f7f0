"""All actions and targets by name. The name is the scenario's and the command line's name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onceproof.errors import FaultError, unknown_name
from onceproof.faults.disconnect import Disconnect
from onceproof.faults.failover import FAILOVER, Failover
from onceproof.faults.fault import Fault
from onceproof.faults.fill_offsets import FILL, FillOffsets
from onceproof.faults.hold_open import HOLD_OPEN, PARAMETER, HoldOpen, Reading
from onceproof.faults.jvm.byteman import Agents
from onceproof.faults.kill import Kill
from onceproof.faults.leave import Leave
from onceproof.faults.method import METHOD_ACTIONS, MethodFault
from onceproof.faults.network import NetworkFault
from onceproof.faults.pause import Pause
from onceproof.faults.refused_commit import RefusedCommit
from onceproof.faults.restart import Restart
from onceproof.faults.stop import Stop
from onceproof.faults.stray_abort import StrayAbort
from onceproof.faults.stray_end import StrayEnd
from onceproof.faults.toggle import Toggle
from onceproof.faults.usurp import Usurp
from onceproof.faults.vanish import Vanish
from onceproof.faults.victim import Victim
from onceproof.faults.wire_aim import WireAim
from onceproof.suspects.instance import Instance
from onceproof.wire.control import Wire

if TYPE_CHECKING:
    from onceproof.cluster.client import BrokerClient

PROCESS_ACTIONS: dict[str, Callable[[Victim], Fault]] = {
    "kill": Kill,
    "pause": Pause,
    "stop": Stop,
    "leave": Leave,
    "restart": Restart,
    "toggle": Toggle,
}
PROTOCOL_ACTIONS: dict[str, Callable[[Victim, Wire], Fault]] = {
    "vanish": Vanish,
    "stray_end": StrayEnd,
    "stray_abort": StrayAbort,
    "refused_commit": RefusedCommit,
}
ACTIONS: dict[str, str] = {
    "kill": "SIGKILL; healed by starting it again",
    "pause": "SIGSTOP; healed by SIGCONT",
    "stop": "SIGTERM, a clean end; healed by starting it again",
    "leave": "SIGTERM, and what follows goes on while it shuts down (brokers only)",
    "restart": "a clean end and a start right after it",
    "toggle": "started if it does not run, else stopped cleanly for good (instances only)",
    "slow": "its frames are late (delay_s) and now and then lost (loss_percent)",
    "narrow": "its frames share a line of bytes_per_s",
    "cut": "nothing passes to it or from it; connections stay",
    "refuse": "it makes, or takes, no new connection",
    "isolate": "nothing passes between it and the controllers (brokers only)",
    "vanish": "nobody answers at its address, as if its machine were gone (brokers only)",
    "usurp": "cut off, succeeded by another process, and back again (instances only)",
    "stray_end": "its delayed EndTxn comes into its next transaction; SIGKILL (instances only)",
    "stray_abort": "its delayed abort comes into its next transaction (instances only)",
    "refused_commit": "its commit is refused; when the next is done: SIGKILL (instances only)",
    "disconnect": "the connection of the frame aimed at is cut, and the frame is lost",
    "fill_offsets": "idle commits fill its partitions of __consumer_offsets (brokers only)",
    "failover": "SIGKILL; the group is watched as it moves and comes back (group coordinators)",
    "hold_open": "a transaction is held open, then ended (end); lags are looked at (instances)",
    "delay_method": "a method of its JVM begins delay_s later (method, times)",
    "fail_method": "a method of its JVM throws an exception (method, exception, times)",
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
    "broker:offsets_donor": "the one whose part of the offsets log the group coordinator would get",
}


@dataclass(frozen=True, kw_only=True)
class Means:
    """What a fault is carried out with, besides signals."""

    wire: Wire | None = None  # None on a cluster that is not ours
    agents: Agents | None = None
    client: "BrokerClient | None" = None
    app_id: str = ""  # the suspect's group, if it has one
    output_topic: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    frames: WireAim | None = None  # None: all of the victim's


# Those that need answers of the brokers.
CLUSTER_ACTIONS: dict[str, Callable[[Victim, "BrokerClient", Means], Fault]] = {
    FILL: lambda victim, client, means: FillOffsets(victim, client, means.parameters),
    FAILOVER: lambda victim, client, means: Failover(victim, client, means.app_id),
    HOLD_OPEN: lambda victim, client, means: HoldOpen(
        victim, Reading(client, means.output_topic, str(means.parameters[PARAMETER]))
    ),
}


def make_fault(action: str, victim: Victim, means: Means) -> Fault:
    check_action(action)
    if action in PROCESS_ACTIONS:
        return PROCESS_ACTIONS[action](victim)
    if action in METHOD_ACTIONS:
        assert means.agents is not None
        return MethodFault(victim, means.agents, action, means.parameters)
    if action in CLUSTER_ACTIONS:
        assert means.client is not None
        return CLUSTER_ACTIONS[action](victim, means.client, means)
    if means.wire is None:
        raise FaultError(
            f"{action} needs the proxy, and this cluster's addresses do not lead there"
        )
    return _wire_fault(action, victim, means.wire, means)


def _wire_fault(action: str, victim: Victim, wire: Wire, means: Means) -> Fault:
    if action == "disconnect":
        return Disconnect(victim)
    if action in PROTOCOL_ACTIONS:
        return PROTOCOL_ACTIONS[action](victim, wire)
    if action == "usurp":
        assert isinstance(victim, Instance)
        return Usurp(victim, wire)
    return NetworkFault(victim, wire, action, means.parameters, means.frames)


def check_action(action: str) -> None:
    if action not in ACTIONS:
        raise unknown_name("action", action, ACTIONS)


def needs_wire(action: str) -> bool:
    return action not in (*PROCESS_ACTIONS, *METHOD_ACTIONS, *CLUSTER_ACTIONS)
