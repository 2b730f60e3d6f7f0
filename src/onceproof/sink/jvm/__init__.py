"""What Spark's own JVM writes, where it has Kafka's client: no row passes through Python.

*.java       what runs in Spark's tasks; program.py compiles it and ships it to every executor
access.py    whether it is to write at all
settings.py  the user's options as Java's client has them, where it knows them all
plan.py      what a task is told, as JSON
lanes.py     the lanes of a batch, for the first time; everything else is Python's (../laned.py)
whole.py     a batch whole, for the first time, where all tasks share this JVM

Both ways write the same lanes, tokens, manifests and digests, so each takes up what the other left.
"""
