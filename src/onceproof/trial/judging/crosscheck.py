"""The judge is checked by a second reader: raw fetches, a code base no Spark job and no suspect
uses.

A disagreement says that one of the two readers is wrong, so nothing can be said of the suspect:
UNKNOWN.
"""

from typing import Protocol

from onceproof.cluster import rawlog
from onceproof.cluster.client import BrokerClient
from onceproof.errors import ClusterError
from onceproof.history.finding import Finding, Witness
from onceproof.trial.judging.judge import Judged


class SecondReader(Protocol):
    def count_visible(self, topic: str) -> dict[int, int]: ...

    def read_record(self, topic: str, partition: int, offset: int) -> rawlog.RawRecord | None: ...


class RawLog:
    """By raw fetches."""

    def __init__(self, client: BrokerClient) -> None:
        self._client = client

    def count_visible(self, topic: str) -> dict[int, int]:
        return rawlog.count_visible(self._client, topic)

    def read_record(self, topic: str, partition: int, offset: int) -> rawlog.RawRecord | None:
        return rawlog.read_record(self._client, topic, partition, offset)


def disagreements(
    reader: SecondReader, input_topic: str, output_topic: str, judged: Judged
) -> list[str]:
    """What the two readers do not agree on: visible records by partition, and every witness."""
    counted = [
        *_differing(reader, input_topic, judged.input_by_partition),
        *_differing(reader, output_topic, judged.output_by_partition),
    ]
    witnessed = [
        problem
        for finding in judged.judgement.findings
        for witness in finding.witnesses
        for problem in _contradicted(reader, finding, witness)
    ]
    return counted + witnessed


def _differing(reader: SecondReader, topic: str, by_spark: dict[int, int]) -> list[str]:
    try:
        by_fetch = reader.count_visible(topic)
    except ClusterError as error:
        return [f"{topic} could not be read a second time: {error}"]
    return [
        f"{topic}-{partition}: Spark read {by_spark.get(partition, 0)} records,"
        f" raw fetches {by_fetch.get(partition, 0)}"
        for partition in sorted(set(by_spark) | set(by_fetch))
        if by_spark.get(partition, 0) != by_fetch.get(partition, 0)
    ]


def _contradicted(reader: SecondReader, finding: Finding, witness: Witness) -> list[str]:
    """A witness names a place in a topic: the record there must have the key it says."""
    facts = witness.facts
    if not {"topic", "partition", "offset"} <= set(facts):
        return []
    topic, partition, offset = facts["topic"], facts["partition"], facts["offset"]
    place = f"{topic}-{partition}@{offset}"
    try:
        record = reader.read_record(topic, partition, offset)
    except ClusterError as error:
        return [f"witness of {finding.anomaly} at {place} could not be read again: {error}"]
    if record is None:
        return [f"witness of {finding.anomaly} at {place}: raw fetches find no record there"]
    key = None if record.key is None else record.key.decode("utf-8", errors="replace")
    if "key" in facts and facts["key"] != key:
        return [f"witness of {finding.anomaly} at {place}: key {facts['key']!r}, raw {key!r}"]
    return []
