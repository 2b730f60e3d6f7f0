"""The wire: a Kafka-aware proxy before each broker. It sees every frame, and may act on it.

    client ──▶ frames.py ──▶ decoding.py ──▶ facts.py ──▶ rules ──▶ broker
               bytes         kio's entities  what a rule            the same bytes
                                             can ask about

What is forwarded are always the bytes that came; decoding is only for looking.
"""
