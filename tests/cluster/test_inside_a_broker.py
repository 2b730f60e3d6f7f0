"""Inside a real broker: its methods are late or fail, and its log of offsets is read."""

import time
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from onceproof.cluster import topics
from onceproof.cluster.batches import Outcome
from onceproof.cluster.local import LocalCluster
from onceproof.cluster.offset_commits import read_commits
from onceproof.cluster.ports import HeldPorts
from onceproof.errors import ClusterError, FaultError
from onceproof.faults.jvm.byteman import Agents
from onceproof.faults.method import MethodFault

ASKED = "kafka.server.KafkaApis.handleListOffsetRequest"
DELAY_S = 0.7


@pytest.fixture(scope="module")
def agents() -> Iterator[Agents]:
    ports = HeldPorts()
    yield Agents(ports.take)
    ports.release()


@pytest.fixture(scope="module")
def topic(cluster: LocalCluster) -> str:
    topics.create_topic(cluster.client(), "inside", partitions=1)
    return "inside"


def asked_for_s(cluster: LocalCluster, topic: str) -> float:
    began = time.monotonic()
    topics.end_offsets(cluster.client(), topic)
    return time.monotonic() - began


def test_a_method_is_late_until_it_is_healed(
    cluster: LocalCluster, agents: Agents, topic: str
) -> None:
    parameters = {"method": [ASKED, "kafka.server.Nowhere.near"], "delay_s": DELAY_S}
    for _ in range(2):  # the agent is loaded once, and serves again
        fault = MethodFault(cluster.brokers[1], agents, "delay_method", parameters)
        fault.inject()
        assert asked_for_s(cluster, topic) > DELAY_S
        fault.heal()
        assert f"{ASKED} was hit once in data-plane-kafka-request-handler-" in fault.outcome()
        assert asked_for_s(cluster, topic) < DELAY_S


def test_a_method_fails_as_often_as_asked_for(
    cluster: LocalCluster, agents: Agents, topic: str
) -> None:
    parameters = {"method": ASKED, "exception": "java.lang.IllegalStateException", "times": 1}
    fault = MethodFault(cluster.brokers[1], agents, "fail_method", parameters)
    fault.inject()
    with pytest.raises(ClusterError, match="UnknownError"):
        topics.end_offsets(cluster.client(), topic)
    topics.end_offsets(cluster.client(), topic)
    fault.heal()
    assert "was hit once" in fault.outcome()


@pytest.mark.parametrize(
    ("method", "told"),
    [
        ("kafka.server.KafkaApis.noSuchMethod", "has loaded no class with a method"),
        ("no.such.Thing.atAll", "has loaded no class with a method"),
        ("kafka.server.KafkaApis.handleDeleteGroupsRequest", "was not called"),
    ],
)
def test_a_rule_that_does_not_fire_was_not_applied(
    cluster: LocalCluster, agents: Agents, method: str, told: str
) -> None:
    parameters = {"method": method, "delay_s": DELAY_S}
    fault = MethodFault(cluster.brokers[1], agents, "delay_method", parameters)
    fault.inject()
    fault.heal()
    with pytest.raises(FaultError, match=told):
        fault.outcome()


def test_an_exception_that_the_method_may_not_throw_is_told(
    cluster: LocalCluster, agents: Agents, topic: str
) -> None:
    parameters = {"method": ASKED, "exception": "java.io.IOException"}
    fault = MethodFault(cluster.brokers[1], agents, "fail_method", parameters)
    fault.inject()
    topics.end_offsets(cluster.client(), topic)
    fault.heal()
    with pytest.raises(FaultError, match=r"could not be carried out: .*not declared"):
        fault.outcome()


def test_the_log_tells_what_became_of_each_commit(cluster: LocalCluster, topic: str) -> None:
    servers = {"bootstrap.servers": cluster.bootstrap()}
    consumer = Consumer({**servers, "group.id": "inside"})
    producer = Producer({**servers, "transactional.id": "inside"})
    producer.init_transactions(30)
    for position, end in ((7, producer.commit_transaction), (9, producer.abort_transaction)):
        producer.begin_transaction()
        place = TopicPartition(topic, 0, position)
        producer.send_offsets_to_transaction([place], consumer.consumer_group_metadata(), 30)
        end(30)
    consumer.commit(offsets=[TopicPartition(topic, 0, 8)], asynchronous=False)
    consumer.close()
    commits = list(read_commits(cluster.client(), "inside"))
    assert sorted((each.position, each.outcome) for each in commits) == [
        (7, Outcome.COMMITTED),
        (8, Outcome.NONE),
        (9, Outcome.ABORTED),
    ]
    for each in commits:
        assert (each.topic, each.partition, each.group) == (topic, 0, "inside")
        in_transaction = each.outcome is not Outcome.NONE
        assert (each.marker_ms is not None) == in_transaction
        assert each.marker_ms is None or abs(each.marker_ms / 1000 - time.time()) < 60
