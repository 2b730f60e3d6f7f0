"""One anomaly a file, as Spark queries over the shapes of history/schemas.py; blind to all else.

case.py      what is judged: expected, observed, positions, batches, events, frames
check.py     what a check is; imports its module (and pyspark) only when it is used
catalog.py   name → check
judge.py     carries checks out: exact counts, a few witnesses, "unknown" for a check that crashed
frames.py    requests with their answers, for the checks of the wire
wording.py   places and values as a sentence shows them
live.py      the same checks on the output while it is being written
"""
