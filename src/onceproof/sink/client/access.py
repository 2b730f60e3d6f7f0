"""What the sink's user must be allowed to do: the least ACLs, as data.

Kafka lets those who may write, read or alter a resource describe it too, and asks for nothing on
the group of a reader that never joins it: neither is in the table.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Need:
    """One ACL. `prefixed`: it is about every name that begins with `name`."""

    operation: str
    resource: str
    name: str
    why: str
    prefixed: bool = False

    def __str__(self) -> str:
        return f"{self.operation} on {self.resource} {self.name}{'*' if self.prefixed else ''}"


def least_access(*, sink_id: str, topic: str, ledger_topic: str) -> tuple[Need, ...]:
    """All that the sink needs for one output topic, and nothing more."""

    def ledger(operation: str, why: str) -> Need:
        return Need(operation=operation, resource="topic", name=ledger_topic, why=why)

    return (
        Need(operation="write", resource="topic", name=topic, why="rows"),
        ledger("write", "manifests and tokens"),
        ledger("read", "who owns the sink, and what is committed"),
        ledger("describe_configs", "a ledger that forgets is refused"),
        ledger("create", "only where the ledger is not made beforehand"),
        ledger("alter", "only to add partitions for more lanes"),
        Need(
            operation="write",
            resource="transactional_id",
            name=f"{sink_id}-",
            prefixed=True,
            why="the driver's transactions and those of each lane",
        ),
    )
