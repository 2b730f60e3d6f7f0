"""Every setting of Java's producer (kafka-clients 3.3 to 4.3) and what becomes of it.

One line a setting. A name that is not here may still be one of librdkafka's own: librdkafka.py.
Defaults are librdkafka's and the sink's where the user gives nothing.
"""

from onceproof.sink.client.fates import (
    Fate,
    Ignored,
    Owned,
    Passed,
    Refused,
    Together,
    at_least_one,
    bytes_in_kilobytes,
    empty_is_none,
    negative_is_zero,
)

_SAME = Passed()
_LOGIN = Together(decided_in="login")
_STORES = Together(decided_in="stores")
_COMPRESSION = Together(decided_in="compression")
_OF_THE_JVM = Ignored(why="it is about the JVM's TLS; librdkafka has OpenSSL")
_OF_JAVAS_METRICS = Ignored(why="librdkafka has no such metrics; see statistics.interval.ms")
_OF_JAVAS_LOGIN = Ignored(why="librdkafka renews its tokens by its own schedule")
_OF_A_VALIDATOR = Ignored(why="only the broker validates tokens here")
_SERIALIZER = Refused(why="rows are written as bytes: cast key and value to string or binary")

CONNECTION: dict[str, Fate] = {
    "bootstrap.servers": _SAME,
    "metadata.broker.list": Passed(to="bootstrap.servers"),
    "client.id": _SAME,
    "client.dns.lookup": _SAME,
    "connections.max.idle.ms": Passed(change=negative_is_zero),
    "reconnect.backoff.ms": _SAME,
    "reconnect.backoff.max.ms": _SAME,
    "retry.backoff.ms": Passed(change=at_least_one),
    "retry.backoff.max.ms": Passed(change=at_least_one),
    "request.timeout.ms": Passed(to="socket.timeout.ms"),
    "send.buffer.bytes": Passed(to="socket.send.buffer.bytes", change=negative_is_zero),
    "receive.buffer.bytes": Passed(to="socket.receive.buffer.bytes", change=negative_is_zero),
    "socket.connection.setup.timeout.ms": _SAME,
    "socket.connection.setup.timeout.max.ms": Ignored(
        why="librdkafka's socket.connection.setup.timeout.ms does not grow"
    ),
    "metadata.max.age.ms": Passed(to="topic.metadata.refresh.interval.ms"),
    "metadata.max.idle.ms": Ignored(why="librdkafka forgets topics by its own schedule"),
    "metadata.recovery.strategy": _SAME,
    "metadata.recovery.rebootstrap.trigger.ms": _SAME,
    "enable.metrics.push": _SAME,
    "metric.reporters": _OF_JAVAS_METRICS,
    "auto.include.jmx.reporter": _OF_JAVAS_METRICS,
    "metrics.num.samples": _OF_JAVAS_METRICS,
    "metrics.recording.level": _OF_JAVAS_METRICS,
    "metrics.sample.window.ms": _OF_JAVAS_METRICS,
    "config.providers": Refused(
        why="no Java class can run here; put the resolved values into the options", unless=("",)
    ),
}

PRODUCING: dict[str, Fate] = {
    "acks": Owned(always=("all", "-1")),
    "enable.idempotence": Owned(always=("true",)),
    "transactional.id": Owned(),
    "transaction.timeout.ms": _SAME,
    "transaction.two.phase.commit.enable": Owned(always=("false",)),
    "batch.size": Passed(change=at_least_one),
    "linger.ms": _SAME,
    "buffer.memory": Passed(to="queue.buffering.max.kbytes", change=bytes_in_kilobytes),
    "max.request.size": Passed(to="message.max.bytes"),
    "max.in.flight.requests.per.connection": _SAME,
    "retries": _SAME,
    "delivery.timeout.ms": _SAME,  # at most transaction.timeout.ms: see translation.py
    "max.block.ms": Ignored(why="a full queue is waited for within the transaction's timeout"),
    "compression.type": _SAME,
    "compression.gzip.level": _COMPRESSION,
    "compression.lz4.level": _COMPRESSION,
    "compression.zstd.level": _COMPRESSION,
    "key.serializer": _SERIALIZER,
    "value.serializer": _SERIALIZER,
    "interceptor.classes": Refused(
        why="no Java class can run here; change the rows in the query, before the sink",
        unless=("",),
    ),
    "partitioner.class": Refused(
        why="no Java class can run here; keys go where Java's default partitioner sends them, "
        "and a column 'partition' sends a row elsewhere",
        unless=("", "org.apache.kafka.clients.producer.internals.DefaultPartitioner"),
    ),
    "partitioner.ignore.keys": Refused(
        why="a row's key decides; a column 'partition' sends a row elsewhere", unless=("false",)
    ),
    "partitioner.adaptive.partitioning.enable": Ignored(why="librdkafka has no such choice"),
    "partitioner.availability.timeout.ms": Ignored(why="librdkafka has no such choice"),
}

TLS: dict[str, Fate] = {
    "security.protocol": _SAME,
    "ssl.truststore.location": _STORES,
    "ssl.truststore.password": _STORES,
    "ssl.truststore.type": _STORES,
    "ssl.truststore.certificates": Passed(to="ssl.ca.pem"),
    "ssl.keystore.location": _STORES,
    "ssl.keystore.password": _STORES,
    "ssl.keystore.type": _STORES,
    "ssl.keystore.certificate.chain": Passed(to="ssl.certificate.pem"),
    "ssl.keystore.key": Passed(to="ssl.key.pem"),
    "ssl.key.password": _STORES,
    "ssl.endpoint.identification.algorithm": Passed(change=empty_is_none),
    "ssl.cipher.suites": _SAME,
    "ssl.enabled.protocols": Ignored(why="OpenSSL takes the newest TLS both sides speak"),
    "ssl.protocol": Ignored(why="OpenSSL takes the newest TLS both sides speak"),
    "ssl.keymanager.algorithm": _OF_THE_JVM,
    "ssl.trustmanager.algorithm": _OF_THE_JVM,
    "ssl.secure.random.implementation": _OF_THE_JVM,
    "ssl.provider": _OF_THE_JVM,
    "ssl.engine.factory.class": Refused(
        why="no Java class can run here; give certificates as PEM or PKCS12", unless=("",)
    ),
    "security.providers": Refused(
        why="no Java class can run here; OpenSSL's providers are set by 'kafka.ssl.providers'",
        unless=("",),
    ),
}

SASL: dict[str, Fate] = {
    "sasl.mechanism": _LOGIN,
    "sasl.mechanisms": _LOGIN,
    "sasl.jaas.config": _LOGIN,
    "sasl.login.callback.handler.class": _LOGIN,
    "sasl.client.callback.handler.class": Refused(
        why="no Java class can run here, so neither can AWS MSK IAM's; use a SCRAM user of the"
        " cluster (kafka.sasl.mechanism=SCRAM-SHA-512) or a client certificate",
        unless=("",),
    ),
    "sasl.login.class": Refused(why="no Java class can run here", unless=("",)),
    "sasl.kerberos.service.name": _SAME,
    "sasl.kerberos.kinit.cmd": Refused(
        why="Java means a program by it and librdkafka a whole command; leave it out, and give"
        " 'kafka.sasl.kerberos.principal' and 'kafka.sasl.kerberos.keytab'"
    ),
    "sasl.kerberos.min.time.before.relogin": _SAME,
    "sasl.kerberos.ticket.renew.jitter": _OF_JAVAS_LOGIN,
    "sasl.kerberos.ticket.renew.window.factor": _OF_JAVAS_LOGIN,
    "sasl.login.connect.timeout.ms": _OF_JAVAS_LOGIN,
    "sasl.login.read.timeout.ms": _OF_JAVAS_LOGIN,
    "sasl.login.refresh.buffer.seconds": _OF_JAVAS_LOGIN,
    "sasl.login.refresh.min.period.seconds": _OF_JAVAS_LOGIN,
    "sasl.login.refresh.window.factor": _OF_JAVAS_LOGIN,
    "sasl.login.refresh.window.jitter": _OF_JAVAS_LOGIN,
    "sasl.login.retry.backoff.ms": _OF_JAVAS_LOGIN,
    "sasl.login.retry.backoff.max.ms": _OF_JAVAS_LOGIN,
}

OAUTHBEARER: dict[str, Fate] = {
    "sasl.oauthbearer.token.endpoint.url": _LOGIN,
    "sasl.oauthbearer.client.credentials.client.id": Passed(to="sasl.oauthbearer.client.id"),
    "sasl.oauthbearer.client.credentials.client.secret": Passed(
        to="sasl.oauthbearer.client.secret"
    ),
    "sasl.oauthbearer.scope": _SAME,
    "sasl.oauthbearer.sub.claim.name": _SAME,
    "sasl.oauthbearer.assertion.algorithm": _SAME,
    "sasl.oauthbearer.assertion.claim.aud": _SAME,
    "sasl.oauthbearer.assertion.claim.exp.seconds": _SAME,
    "sasl.oauthbearer.assertion.claim.iss": _SAME,
    "sasl.oauthbearer.assertion.claim.jti.include": _SAME,
    "sasl.oauthbearer.assertion.claim.nbf.seconds": _SAME,
    "sasl.oauthbearer.assertion.claim.sub": _SAME,
    "sasl.oauthbearer.assertion.file": _SAME,
    "sasl.oauthbearer.assertion.private.key.file": _SAME,
    "sasl.oauthbearer.assertion.private.key.passphrase": _SAME,
    "sasl.oauthbearer.assertion.template.file": Passed(
        to="sasl.oauthbearer.assertion.jwt.template.file"
    ),
    "sasl.oauthbearer.jwt.retriever.class": Refused(
        why="no Java class can run here; say 'kafka.sasl.oauthbearer.grant.type' instead:"
        " client_credentials, or urn:ietf:params:oauth:grant-type:jwt-bearer",
        unless=("", "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever"),
    ),
    "sasl.oauthbearer.header.urlencode": Refused(
        why="librdkafka sends client id and secret as they are", unless=("false",)
    ),
    "sasl.oauthbearer.jwt.validator.class": _OF_A_VALIDATOR,
    "sasl.oauthbearer.clock.skew.seconds": _OF_A_VALIDATOR,
    "sasl.oauthbearer.expected.audience": _OF_A_VALIDATOR,
    "sasl.oauthbearer.expected.issuer": _OF_A_VALIDATOR,
    "sasl.oauthbearer.jwks.endpoint.url": _OF_A_VALIDATOR,
    "sasl.oauthbearer.jwks.endpoint.refresh.ms": _OF_A_VALIDATOR,
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms": _OF_A_VALIDATOR,
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": _OF_A_VALIDATOR,
    "sasl.oauthbearer.scope.claim.name": _OF_A_VALIDATOR,
}

# Of the consumer the sink reads its ledger with, and of librdkafka's ways around the protocol.
OF_THE_SINK: dict[str, Fate] = {
    name: Owned()
    for name in (
        "group.id",
        "isolation.level",
        "request.required.acks",
        "enable.gapless.guarantee",
        "delivery.report.only.error",
        "queuing.strategy",
        "builtin.features",
    )
}

# The same options are often given to Spark's source and to the sink.
OF_CONSUMERS: dict[str, Fate] = {
    name: Ignored(why="it is a consumer's setting, and the sink writes")
    for name in (
        "allow.auto.create.topics",
        "auto.commit.interval.ms",
        "auto.offset.reset",
        "check.crcs",
        "client.rack",
        "default.api.timeout.ms",
        "enable.auto.commit",
        "exclude.internal.topics",
        "fetch.max.bytes",
        "fetch.max.wait.ms",
        "fetch.min.bytes",
        "group.instance.id",
        "group.protocol",
        "group.remote.assignor",
        "heartbeat.interval.ms",
        "key.deserializer",
        "max.partition.fetch.bytes",
        "max.poll.interval.ms",
        "max.poll.records",
        "partition.assignment.strategy",
        "session.timeout.ms",
        "value.deserializer",
    )
}

TABLE: dict[str, Fate] = {
    **CONNECTION,
    **PRODUCING,
    **TLS,
    **SASL,
    **OAUTHBEARER,
    **OF_THE_SINK,
    **OF_CONSUMERS,
}
