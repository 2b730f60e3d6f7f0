"""Kafka Streams itself, unmodified and of any version in the lock, with topologies in Python."""
