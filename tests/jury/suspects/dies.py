"""died: exits with 3 after a third of the input, and again whenever it is restarted."""

import os
import sys

import copying
from confluent_kafka import Consumer
from copying import Batch, Work
from lying import has_done_a_third


def die_after_a_third(consumer: Consumer, _batch: Batch) -> None:
    if has_done_a_third(consumer):
        sys.stderr.write("a third is enough for anybody\n")
        sys.stderr.flush()
        os._exit(3)


if __name__ == "__main__":
    copying.run(Work(before=die_after_a_third))
