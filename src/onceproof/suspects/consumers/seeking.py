"""For who keeps its position in a database: the group shares the partitions out and nothing more.

assigned ──▶ where does the database say? ──▶ read from there; no offset is ever committed
"""

from collections.abc import Callable

from confluent_kafka import Consumer, KafkaException, TopicPartition

from onceproof.suspects.consumers.contract import given, losses, moves_only_what_must, say, says

Place = Callable[[int], int]  # the next offset of a partition


def subscribe_from(consumer: Consumer, place: Place) -> None:
    def assigned(consumer: Consumer, partitions: list[TopicPartition]) -> None:
        for each in partitions:
            each.offset = place(each.partition)
        say("assigned", positions={each.partition: each.offset for each in partitions})
        if moves_only_what_must():
            consumer.incremental_assign(partitions)
        else:
            consumer.assign(partitions)

    consumer.subscribe([given("INPUT_TOPIC")], on_assign=assigned, **losses(says))


def read_on(consumer: Consumer, partition: int, place: Place) -> None:
    """Another has moved the position: from there, if the partition is still ours at all."""
    offset = place(partition)
    say("overtaken", partition=partition, next=offset)
    try:
        consumer.seek(TopicPartition(given("INPUT_TOPIC"), partition, offset))
    except KafkaException as error:
        say("refused", partition=partition, why=str(error))
