"""Producing in transactions: through confluent-kafka, or faster through the C library inside it.

                     ┌─ plain.py    confluent-kafka's Producer, record by record
Transaction (seam) ──┤
                     └─ native.py   rd_kafka_produce_batch, message arrays straight from Arrow
"""
