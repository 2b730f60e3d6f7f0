"""What goes into an instance's log: Streams at INFO, through slf4j-simple, on standard error."""

# What Streams says at INFO is evidence ("initialized from checkpoint with offset …"); what its
# clients are configured with is not worth a page for each.
LOGGING = {
    "defaultLogLevel": "info",
    "showDateTime": "true",
    "dateTimeFormat": "HH:mm:ss.SSS",
    "showThreadName": "false",
    "showShortLogName": "true",
    "log.org.apache.kafka.clients.consumer.ConsumerConfig": "warn",
    "log.org.apache.kafka.clients.producer.ProducerConfig": "warn",
    "log.org.apache.kafka.clients.admin.AdminClientConfig": "warn",
    "log.org.apache.kafka.common.utils.AppInfoParser": "warn",
    "log.org.apache.kafka.common.config.AbstractConfig": "warn",
    "log.org.apache.kafka.common.metrics": "warn",
    "log.org.apache.kafka.common.telemetry": "warn",
    "log.org.apache.kafka.streams.internals.metrics": "warn",
}

# Lines of it that belong into the history of a run.
EVIDENCE = (
    "initialized from checkpoint with offset",
    "while stores are not empty",
    "End offset for changelog",
    "are corrupted",
    "these will be cleaned and revived",  # the same, while partitions are taken away
    "Suspended from CREATED",  # a revived task that is given up before it was initialized
    "Seeking to offset",  # and where it is not, the consumer goes on behind what it had polled
    "recycled state",  # an active task's becomes a standby's, or the other way round
    "TaskCorruptedException",
    "ProducerFencedException",
    "InvalidProducerEpochException",
    "TimeoutException",
    "due to request timeout",
)


def logging_flags() -> list[str]:
    return [f"-Dorg.slf4j.simpleLogger.{name}={value}" for name, value in LOGGING.items()]
