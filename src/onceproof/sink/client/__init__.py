"""From the client settings a Spark user knows (Java's) to those of librdkafka.

options ──▶ table.py: what becomes of each Java setting, one line each ─────────┐
        ──▶ login.py:  sasl.jaas.config (read by jaas.py) and its mechanism ────┼──▶ librdkafka's
        ──▶ stores.py: trust and key stores, told apart by what is in the files ┤     settings
        ──▶ librdkafka.py: names that librdkafka itself knows pass as they are ─┘

No value of a setting that may be secret ever stands in a message or in a log.
"""

from onceproof.sink.client.librdkafka import connection_settings
from onceproof.sink.client.translation import translate

__all__ = ["connection_settings", "translate"]
