"""Spark's options in, librdkafka's settings out; librdkafka itself is asked whether it has them."""

import logging

import pytest
from confluent_kafka import KafkaException, Producer

from onceproof.sink.client import connection_settings, translate
from onceproof.sink.client.fates import Passed
from onceproof.sink.client.librdkafka import KNOWN
from onceproof.sink.client.table import TABLE
from onceproof.sink.errors import SinkError

SILENT = logging.getLogger("onceproof.sink.librdkafka")
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


def kafka(**given: str) -> dict[str, str]:
    """Options by Spark's names; `__` stands for a dot."""
    return {"kafka." + name.replace("__", "."): value for name, value in given.items()}


def does_librdkafka_know(name: str) -> bool:
    try:
        Producer({name: "0"}, logger=SILENT)
    except KafkaException as error:
        return "No such configuration property" not in str(error)
    return True


def test_every_name_that_can_come_out_is_one_of_librdkafkas() -> None:
    renamed = {fate.to or name for name, fate in TABLE.items() if isinstance(fate, Passed)}
    assert [name for name in sorted(KNOWN | renamed) if not does_librdkafka_know(name)] == []
    assert renamed <= KNOWN


def test_what_a_spark_user_carries_over_makes_a_producer() -> None:
    settings = translate(
        kafka(
            bootstrap__servers="127.0.0.1:1",
            acks="all",
            enable__idempotence="true",
            batch__size="0",
            buffer__memory="67108864",
            max__request__size="2097152",
            request__timeout__ms="30000",
            delivery__timeout__ms="120000",
            send__buffer__bytes="-1",
            compression__type="zstd",
            compression__zstd__level="6",
            compression__gzip__level="9",
            max__block__ms="60000",
            ssl__endpoint__identification__algorithm="",
            security__protocol="SASL_SSL",
            sasl__mechanism="SCRAM-SHA-512",
            sasl__jaas__config=f'{SCRAM} required username="u" password="p";',
        )
    )
    assert settings == {
        "bootstrap.servers": "127.0.0.1:1",
        "batch.size": "1",
        "queue.buffering.max.kbytes": "65536",
        "message.max.bytes": "2097152",
        "socket.timeout.ms": "30000",
        "delivery.timeout.ms": "60000",
        "socket.send.buffer.bytes": "0",
        "compression.type": "zstd",
        "compression.level": "6",
        "ssl.endpoint.identification.algorithm": "none",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "u",
        "sasl.password": "p",
    }
    Producer({**settings, "transactional.id": "t"}, logger=SILENT)


def test_timeouts_stay_within_the_transactions() -> None:
    given = kafka(transaction__timeout__ms="20000", delivery__timeout__ms="19000")
    assert translate(given)["delivery.timeout.ms"] == "19000"
    given = kafka(transaction__timeout__ms="20000", request__timeout__ms="30000")
    assert translate(given)["socket.timeout.ms"] == "20000"


def test_certificates_as_text_keep_their_lines() -> None:
    pem = "-----BEGIN CERTIFICATE-----\nMIIF\n-----END CERTIFICATE-----\n"
    given = kafka(
        ssl__truststore__certificates=pem,
        ssl__truststore__type="PEM",
        ssl__keystore__certificate__chain=pem,
        ssl__keystore__key=pem,
        ssl__key__password="k",
    )
    assert translate(given) == {
        "ssl.ca.pem": pem,
        "ssl.certificate.pem": pem,
        "ssl.key.pem": pem,
        "ssl.key.password": "k",
    }


def test_settings_in_librdkafkas_own_words_pass() -> None:
    given = kafka(ssl__ca__location="ca.pem", sasl__username="u", queue__buffering__max__ms="3")
    assert translate(given) == {name.removeprefix("kafka."): given[name] for name in given}


def test_an_ignored_setting_is_told_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    assert translate(kafka(max__block__ms="1", max__poll__records="5")) == {}
    assert [record.getMessage() for record in caplog.records] == [
        "option 'kafka.max.block.ms' is ignored where rows go through Python: a full queue is"
        " waited for within the transaction's timeout",
        "option 'kafka.max.poll.records' is ignored where rows go through Python: it is a"
        " consumer's setting, and the sink writes",
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("transactional.id", "mine"),
        ("enable.idempotence", "false"),
        ("acks", "1"),
        ("isolation.level", "read_committed"),
        ("group.id", "g"),
    ],
)
def test_what_the_sink_sets_itself_is_refused(name: str, value: str) -> None:
    with pytest.raises(SinkError, match=f"'kafka.{name}' is set by the sink itself; leave it out"):
        translate({f"kafka.{name}": value})


@pytest.mark.parametrize(
    ("name", "value", "way_out"),
    [
        ("value.serializer", "org.example.Avro", "cast key and value to string or binary"),
        ("partitioner.class", "org.example.Mine", "a column 'partition'"),
        ("interceptor.classes", "org.example.Mine", "in the query, before the sink"),
        ("sasl.client.callback.handler.class", "x", "SCRAM-SHA-512"),
        ("compression.zstd.level", "22", "end at 12"),
    ],
)
def test_what_only_java_can_do_is_refused_with_the_way_out(
    name: str, value: str, way_out: str
) -> None:
    with pytest.raises(SinkError) as refused:
        translate({"kafka.compression.type": "zstd", f"kafka.{name}": value})
    assert f"'kafka.{name}' cannot be used: " in str(refused.value)
    assert way_out in str(refused.value)


def test_an_unknown_setting_is_refused_with_the_nearest_known_ones() -> None:
    with pytest.raises(SinkError) as refused:
        translate({"kafka.compresion.type": "lz4"})
    assert str(refused.value).startswith(
        "unknown option 'kafka.compresion.type'; nearest known: 'kafka.compression.type'"
    )


def test_an_option_that_is_no_client_setting_is_refused() -> None:
    with pytest.raises(SinkError, match="unknown option 'subscribe'; client settings begin with"):
        translate({"subscribe": "in"})


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(SinkError, match=r"'kafka.buffer.memory' must be a whole number; got"):
        translate(kafka(buffer__memory="32MB"))


def test_two_options_that_say_different_things_are_refused_without_their_values() -> None:
    given = kafka(
        sasl__mechanism="SCRAM-SHA-512",
        sasl__jaas__config=f'{SCRAM} required username="u" password="s3cret";',
        sasl__password="oth3r",
    )
    with pytest.raises(SinkError, match=r"means librdkafka's sasl.password") as refused:
        translate(given)
    assert "s3cret" not in str(refused.value)
    assert "oth3r" not in str(refused.value)


def test_readers_get_the_connection_and_not_the_producing() -> None:
    client = {"ssl.ca.location": "a", "enable.ssl.certificate.verification": "false"}
    assert connection_settings({**client, "linger.ms": "1", "compression.type": "lz4"}) == client
