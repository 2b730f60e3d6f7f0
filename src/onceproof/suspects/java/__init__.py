"""Suspects in Java, run from source with the clients of any Kafka in the jar lock."""
