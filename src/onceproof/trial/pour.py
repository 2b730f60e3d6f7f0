"""Results that stand in a table become the output that is judged: row by row, none added or left
out, in the order they were written.

suspect ──▶ table ──pour, once it has ended──▶ output topic ──▶ read back, judged as any other
"""

from confluent_kafka import Producer

from onceproof.cluster.readiness import LIBRDKAFKA_LOG
from onceproof.errors import ClusterError
from onceproof.trial.stage import Stage

POUR_S_MAX = 60.0
ROWS_MAX = 10_000_000


def pour_results(stage: Stage) -> None:
    """Nothing to do for a suspect that writes to the output topic itself."""
    if stage.table is None:
        return
    rows = stage.table.rows()
    producer = Producer(
        {
            "bootstrap.servers": stage.cluster.bootstrap("judge"),
            "enable.idempotence": True,
            "queue.buffering.max.messages": ROWS_MAX,
        },
        logger=LIBRDKAFKA_LOG,
    )
    for partition, key, value in rows:
        producer.produce(stage.output_topic, key=key, value=value, partition=partition)
        producer.poll(0)
    left = producer.flush(POUR_S_MAX)
    if left:
        raise ClusterError(f"{left} of {len(rows)} rows could not be poured into the output topic")
    stage.events.write("note", "results", text=f"{len(rows)} rows of its table are the output")
