"""All actions and targets by name: what a scenario and the command line call them.

An action is one class in a file of its own, and one entry here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from onceproof.errors import FaultError, unknown_name
from onceproof.faults import failover, fill_offsets, hold_open
from onceproof.faults.disconnect import Disconnect
from onceproof.faults.failover import FAILOVER, Failover
from onceproof.faults.fault import Fault
from onceproof.faults.fill_offsets import FILL, FillOffsets, check_fill
from onceproof.faults.hold_open import HOLD_OPEN, HoldOpen, Reading, check_end
from onceproof.faults.jvm.byteman import Agents
from onceproof.faults.kill import Kill
from onceproof.faults.leave import Leave
from onceproof.faults.method import (
    DELAY,
    FAIL,
    METHOD_PARAMETERS,
    MethodFault,
    check_method_parameters,
)
from onceproof.faults.network import ALL_PARAMETERS, ISOLATE, NetworkFault, check_parameters
from onceproof.faults.pause import Pause
from onceproof.faults.refused_commit import RefusedCommit
from onceproof.faults.restart import Restart
from onceproof.faults.stop import Stop
from onceproof.faults.stray_abort import StrayAbort
from onceproof.faults.stray_end import StrayEnd
from onceproof.faults.toggle import TOGGLE, Toggle
from onceproof.faults.usurp import Succeeded, Usurp
from onceproof.faults.vanish import Vanish
from onceproof.faults.victim import Victim
from onceproof.faults.wire_aim import WireAim
from onceproof.wire.control import Wire

if TYPE_CHECKING:
    from onceproof.cluster.client import BrokerClient

BROKER, INSTANCE = "broker:", "instance:"  # what a target begins with
DISCONNECT = "disconnect"
# What a fault may be given besides what all have; which of it, its action's `check` knows.
PARAMETERS = ALL_PARAMETERS | METHOD_PARAMETERS | {fill_offsets.PARAMETER, hold_open.PARAMETER}

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

    def proxy(self) -> Wire:
        assert self.wire is not None
        return self.wire

    def brokers(self) -> "BrokerClient":
        assert self.client is not None
        return self.client


class Needs(Enum):
    SIGNALS = "nothing but the victim's processes"
    WIRE = "the proxy"
    AGENT = "an agent in the victim's JVM"
    BROKERS = "answers of the brokers"


Make = Callable[[Victim, Means], Fault]


@dataclass(frozen=True, kw_only=True)
class Action:
    told: str
    make: Make
    needs: Needs = Needs.SIGNALS
    victims: str = ""  # what its target must begin with
    starts_anew: bool = False  # the victim is started after it: its settings can be others then
    takes_frames: bool = False  # it can be done to some of the victim's frames only
    check: Callable[[str, Mapping[str, Any]], None] = check_parameters


def _by_signals(fault: Callable[[Victim], Fault]) -> Make:
    return lambda victim, _: fault(victim)


def _by_proxy(fault: Callable[[Victim, Wire], Fault]) -> Make:
    return lambda victim, means: fault(victim, means.proxy())


def _on_network(action: str) -> Make:
    return lambda victim, means: NetworkFault(
        victim, means.proxy(), action, means.parameters, means.frames
    )


def _on_method(action: str) -> Make:
    def make(victim: Victim, means: Means) -> Fault:
        assert means.agents is not None
        return MethodFault(victim, means.agents, action, means.parameters)

    return make


def _usurp(victim: Victim, means: Means) -> Fault:
    assert isinstance(victim, Succeeded)
    return Usurp(victim, means.proxy())


def _hold_open(victim: Victim, means: Means) -> Fault:
    end = str(means.parameters[hold_open.PARAMETER])
    return HoldOpen(victim, Reading(means.brokers(), means.output_topic, end))


ACTIONS: dict[str, Action] = {
    "kill": Action(
        told="SIGKILL; healed by starting it again", make=_by_signals(Kill), starts_anew=True
    ),
    "pause": Action(told="SIGSTOP; healed by SIGCONT", make=_by_signals(Pause)),
    "stop": Action(
        told="SIGTERM, a clean end; healed by starting it again",
        make=_by_signals(Stop),
        starts_anew=True,
    ),
    "leave": Action(
        told="SIGTERM, and what follows goes on while it shuts down (brokers only)",
        make=_by_signals(Leave),
        victims=BROKER,
    ),
    "restart": Action(
        told="a clean end and a start right after it", make=_by_signals(Restart), starts_anew=True
    ),
    TOGGLE: Action(
        told="started if it does not run, else stopped cleanly for good (instances only)",
        make=_by_signals(Toggle),
        victims=INSTANCE,
        starts_anew=True,
    ),
    "slow": Action(
        told="its frames are late (delay_s) and now and then lost (loss_percent)",
        make=_on_network("slow"),
        needs=Needs.WIRE,
        takes_frames=True,
    ),
    "narrow": Action(
        told="its frames share a line of bytes_per_s",
        make=_on_network("narrow"),
        needs=Needs.WIRE,
    ),
    "cut": Action(
        told="nothing passes to it or from it; connections stay",
        make=_on_network("cut"),
        needs=Needs.WIRE,
        takes_frames=True,
    ),
    "refuse": Action(
        told="it makes, or takes, no new connection",
        make=_on_network("refuse"),
        needs=Needs.WIRE,
    ),
    ISOLATE: Action(
        told="nothing passes between it and the controllers (brokers only)",
        make=_on_network(ISOLATE),
        needs=Needs.WIRE,
        victims=BROKER,
    ),
    "vanish": Action(
        told="nobody answers at its address, as if its machine were gone (brokers only)",
        make=_by_proxy(Vanish),
        needs=Needs.WIRE,
        victims=BROKER,
    ),
    "usurp": Action(
        told="cut off, succeeded by another process, and back again (instances only)",
        make=_usurp,
        needs=Needs.WIRE,
        victims=INSTANCE,
        starts_anew=True,
    ),
    "stray_end": Action(
        told="its delayed EndTxn comes into its next transaction; SIGKILL (instances only)",
        make=_by_proxy(StrayEnd),
        needs=Needs.WIRE,
        victims=INSTANCE,
    ),
    "stray_abort": Action(
        told="its delayed abort comes into its next transaction (instances only)",
        make=_by_proxy(StrayAbort),
        needs=Needs.WIRE,
        victims=INSTANCE,
    ),
    "refused_commit": Action(
        told="its commit is refused; when the next is done: SIGKILL (instances only)",
        make=_by_proxy(RefusedCommit),
        needs=Needs.WIRE,
        victims=INSTANCE,
    ),
    DISCONNECT: Action(
        told="the connection of the frame aimed at is cut, and the frame is lost",
        make=_by_signals(Disconnect),
        needs=Needs.WIRE,
    ),
    FILL: Action(
        told="idle commits fill its partitions of __consumer_offsets (brokers only)",
        make=lambda victim, means: FillOffsets(victim, means.brokers(), means.parameters),
        needs=Needs.BROKERS,
        victims=BROKER,
        check=check_fill,
    ),
    FAILOVER: Action(
        told="SIGKILL; the group is watched as it moves and comes back (group coordinators)",
        make=lambda victim, means: Failover(victim, means.brokers(), means.app_id),
        needs=Needs.BROKERS,
        victims=failover.TARGET,
    ),
    HOLD_OPEN: Action(
        told="a transaction is held open, then ended (end); lags are looked at (instances)",
        make=_hold_open,
        needs=Needs.BROKERS,
        victims=INSTANCE,
        check=check_end,
    ),
    DELAY: Action(
        told="a method of its JVM begins delay_s later (method, times)",
        make=_on_method(DELAY),
        needs=Needs.AGENT,
        check=check_method_parameters,
    ),
    FAIL: Action(
        told="a method of its JVM throws an exception (method, exception, times)",
        make=_on_method(FAIL),
        needs=Needs.AGENT,
        check=check_method_parameters,
    ),
}


def action_named(name: str) -> Action:
    if name not in ACTIONS:
        raise unknown_name("action", name, ACTIONS)
    return ACTIONS[name]


def make_fault(name: str, victim: Victim, means: Means) -> Fault:
    action = action_named(name)
    if action.needs is Needs.WIRE and means.wire is None:
        raise FaultError(f"{name} needs the proxy, and this cluster's addresses do not lead there")
    return action.make(victim, means)
