"""A library from PyPI in its exactly-once mode, as a suspect: `pip install quixstreams`.

    onceproof sweep --command "python docs/extending/quix_copy.py" --workload copy

Nothing in it knows of onceproof but the names of its environment.
"""

import os

from quixstreams import Application

application = Application(
    broker_address=os.environ["ONCEPROOF_BOOTSTRAP_SERVERS"],
    consumer_group=os.environ["ONCEPROOF_APP_ID"],
    auto_offset_reset="earliest",
    processing_guarantee="exactly-once",
    commit_interval=0.5,
    state_dir=os.environ["ONCEPROOF_STATE_DIR"],
    loglevel="WARNING",
    consumer_extra_config={"session.timeout.ms": 6000},
    producer_extra_config={
        "transaction.timeout.ms": int(os.environ["ONCEPROOF_TRANSACTION_TIMEOUT_MS"])
    },
)
source = application.topic(
    os.environ["ONCEPROOF_INPUT_TOPIC"], key_deserializer="bytes", value_deserializer="bytes"
)
target = application.topic(
    os.environ["ONCEPROOF_OUTPUT_TOPIC"], key_serializer="bytes", value_serializer="bytes"
)
application.dataframe(source).to_topic(target)

if __name__ == "__main__":
    application.run()
