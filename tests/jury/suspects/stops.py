"""stuck: after a third of the input it stays in its group and polls, but processes nothing more."""

import copying
from confluent_kafka import Consumer
from contract import stop
from copying import Batch, Work
from lying import has_done_a_third


def idle_after_a_third(consumer: Consumer, _batch: Batch) -> None:
    if not has_done_a_third(consumer):
        return
    while not stop.asked:
        consumer.pause(consumer.assignment())
        consumer.poll(0.5)


if __name__ == "__main__":
    copying.run(Work(before=idle_after_a_third))
