"""From a target's name to the victim it means right now. Roles are asked of the cluster, just
before.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from onceproof.cluster import roles, topics
from onceproof.cluster.broker import Broker
from onceproof.cluster.client import BrokerClient
from onceproof.errors import FaultError
from onceproof.faults.victim import Victim

Choice = TypeVar("Choice")


@dataclass(frozen=True, kw_only=True)
class Field:
    """What can be hit in this run."""

    instances: Sequence[Victim]
    brokers: Mapping[int, Broker]  # empty on a cluster that is not ours
    client: BrokerClient
    output_topic: str
    app_id: str
    random: random.Random

    def resolve(self, target: str) -> tuple[Victim, str]:
        """The victim, and its name with the role it was chosen for."""
        kind, _, which = target.partition(":")
        if kind == "instance":
            victim = self._instance(which)
            return victim, victim.name
        broker = self._broker(which)
        role = "" if which.isdigit() or which == "random" else f" ({which.replace('_', ' ')})"
        return broker, broker.name + role

    def _instance(self, which: str) -> Victim:
        """By number any of them: one that does not run can still be started."""
        running = [instance for instance in self.instances if instance.is_running()]
        if which == "random":
            return self._one_of(running, "instance")
        for instance in self.instances:
            if instance.name == f"instance {which}":
                return instance
        raise FaultError(f"there is no instance {which}; there are {len(self.instances)}")

    def _broker(self, which: str) -> Broker:
        running = [each for each in self.brokers.values() if each.is_running()]
        if which == "random":
            return self._one_of(running, "broker")
        broker_id = int(which) if which.isdigit() else self._holder_of(which)
        if broker_id not in self.brokers:
            raise FaultError(f"broker {broker_id} is none of ours; ours: {sorted(self.brokers)}")
        return self.brokers[broker_id]

    def _holder_of(self, role: str) -> int:
        if role == "controller":
            return roles.active_controller(self.client)
        if role == "group_coordinator":
            return roles.group_coordinator(self.client, self.app_id)
        if role == "transaction_coordinator":
            return roles.transaction_coordinator(self.client, self._a_transactional_id())
        if role == "offsets_donor":
            heir = roles.group_coordinator(self.client, self.app_id)
            return roles.offsets_donor(self.client, heir)
        leaders = roles.partition_leaders(self.client, self.output_topic)
        return leaders[self._one_of(sorted(leaders), "partition")]

    def _a_transactional_id(self) -> str:
        """One the suspect uses now: by convention it begins with the application's id. Who has
        another, as a library may, is known by what it wrote.
        """
        listed = topics.list_transactions(self.client)
        used = {each.transactional_id for each in listed}
        ours = {name for name in used if name.startswith(self.app_id)}
        if not ours:
            writers = topics.producers_of(self.client, self.output_topic)
            ours = {each.transactional_id for each in listed if each.producer_id in writers}
        if not ours:
            raise FaultError(
                f"no transactional id begins with {self.app_id}, and none has written to"
                f" {self.output_topic} yet"
            )
        return self._one_of(sorted(ours), "transactional id")

    def _one_of(self, choices: Sequence[Choice], what: str) -> Choice:
        if not choices:
            raise FaultError(f"no {what} runs that could be hit")
        return self.random.choice(choices)
