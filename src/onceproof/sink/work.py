"""Whose batch it is: what a task is told. Plain data, without a Kafka client: an executor that
lacks one must still be able to say so.
"""

from dataclasses import dataclass

from onceproof.sink.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Work:
    settings: Settings
    query: str
    batch: int
    announcement: str = ""  # of the manifest that cut this batch so
    predecessors: tuple[str, ...] = ()  # queries the sink was taken over from: their tokens are old
    verify: bool = True  # False: an operator accepted what is committed, whatever it is
