"""Name → workload. The name is the command line's, and the name of the workload's file."""

from collections.abc import Mapping

from onceproof.errors import unknown_name
from onceproof.workloads.workload import Workload

WORKLOADS: Mapping[str, Workload] = {
    "copy": Workload(
        name="copy",
        description="each record once to the output, key and value unchanged",
        cumulative=False,
    ),
    "fold": Workload(
        name="fold",
        description="per key the running count, max and last id",
        cumulative=True,
    ),
    "dedup": Workload(
        name="dedup",
        description="some ids come twice; the output has each id once",
        cumulative=False,
    ),
    "last": Workload(
        name="last",
        description="each record states the key's state it expects; the suspect says what it found",
        cumulative=False,
        fatal=("unreadable", "repeated", "gap"),
    ),
}


def workload_named(name: str) -> Workload:
    if name not in WORKLOADS:
        raise unknown_name("workload", name, WORKLOADS)
    return WORKLOADS[name]
