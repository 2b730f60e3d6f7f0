"""The only home of Spark schemas. DDL text, so that reading this file needs no JVM and no pyspark.

A workload translates both topics into one shape, and the checks know only that shape:

    input topic ──workload.expected──▶ EXPECTED ─┐
                                                 ├─▶ checks
    output topic ─workload.observed──▶ OBSERVED ─┘
"""

# A topic as read back. `key` and `value` are UTF-8 text.
RECORDS = """
    topic string, partition int, offset long, timestamp timestamp, key string, value string
"""

# One row for each output the input allows.
#   unit         identity of that output: the record's id; for fold "<key>#<count>"
#   key          the record's key
#   ordinal      place within its key, rising (fold: the count; else the place in the input)
#   payload      canonical text of the one value allowed
#   allowed      how often it may appear, and must (an injector's retried task can make that 2)
#   input_*      the record that makes it so; input_offset_last: the last one, if there are several
EXPECTED = """
    unit string, key string, ordinal long, payload string, allowed long,
    input_topic string, input_partition int, input_offset long, input_offset_last long
"""

# One row for each record of the output that a read_committed reader sees.
#   unit, payload   as above; null unit: the value could not be understood
#   ordinal         place within its key by the record's own account (fold: the count; else seq)
#   level           fold: the `max` it states; otherwise null
#   state_expected, state_found   workload `last` only
OBSERVED = """
    unit string, key string, ordinal long, payload string, level long,
    state_expected long, state_found long,
    topic string, partition int, offset long, timestamp timestamp, value string
"""

# How far the suspect has read: the next input offset it will process.
POSITIONS = "partition int, position long"

# Batches of the output log by their headers, as raw fetches show them.
#   outcome   COMMITTED, ABORTED, UNKNOWN (open), NONE (written outside any transaction)
BATCHES = """
    partition int, base_offset long, last_offset long, records int,
    producer_id long, epoch int, transactional boolean, outcome string, marker_offset long
"""

# What the log of `__consumer_offsets` holds of the suspect's group (cluster/offset_commits.py).
#   position    null: taken back
#   marker_ms   when its transaction ended, by the broker's clock; null: open, or in none
COMMITS = """
    log_partition int, log_offset long, `group` string, topic string, partition int, position long,
    producer_id long, epoch int, outcome string, marker_offset long, marker_ms long
"""

# The event log (see event.py).
EVENTS = "at_s double, kind string, subject string, detail map<string,string>"

# Frames between suspects and brokers, as the proxy records them (wire/recorder.py writes them).
# A response has the facts of its request, and its own besides.
#   connection, correlation_id   together they say which response answers which request
#   instance        of the suspect, where the connection is known to be its own
#   start           which of that instance's starts
#   sender          between brokers: the one whose connection it is
#   decoded         false: what it says is not known, and no fact of it is there
#   verdict         what a rule did to it; null: forwarded at once
#   error_code      the first that is not 0, if there is one
#   throttle_ms     of an answer: so long its client must wait, for a quota
FRAMES = """
    at_ns long, direction string, listener string, broker int, connection long,
    client_id string, instance int, start int, sender int,
    api string, version short, correlation_id int, size int,
    decoded boolean, verdict string,
    transactional_id string, producer_id long, producer_epoch short, committed boolean,
    `group` string, generation int, member string,
    places array<struct<topic:string,partition:int,offset:long>>,
    error_code short, records int, first_sequence int, throttle_ms int
"""
