"""What can go wrong inside onceproof itself. An anomaly of a suspect is a value, never one of
these.

OnceproofError          255  onceproof could not do its work
├── UsageError          254  the user asked for something that does not exist or is not allowed
├── MachineError        255  the machine lacks something: Java, memory, disk
├── JarError            254  a jar could not be had, or is not what it should be
├── ProcessError        255  a child process could not be started or ended
├── ClusterError        255  the brokers did not do what was asked of them
├── DatabaseError       255  a database server did not do what was asked of it
├── FaultError          255  a fault could not be injected or healed
└── DeadlineExpired     255  a bounded wait ran out
"""

from collections.abc import Iterable


class OnceproofError(Exception):
    """The root: one line for the user, and the exit code that goes with it."""

    exit_code = 255


class UsageError(OnceproofError):
    exit_code = 254


class MachineError(OnceproofError):
    pass


class JarError(OnceproofError):
    exit_code = 254


class ProcessError(OnceproofError):
    pass


class ClusterError(OnceproofError):
    pass


class DatabaseError(OnceproofError):
    pass


class FaultError(OnceproofError):
    pass


class DeadlineExpired(OnceproofError):
    pass


def unknown_name(what: str, got: str, known: Iterable[str]) -> UsageError:
    """The one wording for a name that is in no catalog."""
    return UsageError(f"unknown {what} {got!r}; known: {', '.join(sorted(known))}")
