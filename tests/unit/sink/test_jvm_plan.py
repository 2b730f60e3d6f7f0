"""What Spark's JVM is told of a batch, and what it answers."""

import json
from pathlib import Path

import pytest

from onceproof.sink.cut import Column
from onceproof.sink.jvm.plan import plan, plan_whole, read_report
from onceproof.sink.jvm.settings import only_pythons, producer_settings, reader_settings
from onceproof.sink.ledger.entries import Manifest, Token, read_entry
from onceproof.sink.reports import LaneState
from onceproof.sink.settings import Settings, make_settings
from onceproof.sink.work import Work

SETTINGS = Settings(sink_id="s", topic=None, lanes=2, ledger_topic="s.ledger", client=())
WORK = Work(settings=SETTINGS, query="q", batch=4, announcement="a")
MANIFEST = Manifest(query="q", batch=4, lanes=2, lanes_ever=2, announcement="a")
OPTIONS = {
    "kafka.bootstrap.servers": "b:1",
    "kafka.linger.ms": "5",
    "kafka.acks": "all",
    "kafka.max.poll.records": "100000",
    "kafka.sasl.jaas.config": "secret",
}
KNOWN = {"bootstrap.servers", "linger.ms", "acks", "sasl.jaas.config"}


def made() -> dict[str, dict[str, dict[str, object]]]:
    told = plan(
        WORK,
        {0: 1, 1: 0},
        {0: 10, 1: 20},
        generation="g",
        manifest=MANIFEST.to_bytes(),
        announced_at=7,
        columns={"value": Column(at=1, kind="string")},
        producer={},
        reader={},
    )
    found: dict[str, dict[str, dict[str, object]]] = json.loads(told)
    return found


def test_each_partition_is_told_its_lane_and_where_that_lanes_ledger_ends() -> None:
    lanes = made()["lanes"]
    assert {
        name: (lane["lane"], lane["partition"], lane["end"]) for name, lane in lanes.items()
    } == {
        "0": (1, 2, 20),
        "1": (0, 1, 10),
    }
    assert lanes["0"]["transactional_id"] == "s-lane-1"
    assert lanes["0"]["key"] == "lane-1"


def test_the_token_is_this_batchs_with_nothing_counted_yet() -> None:
    token = read_entry(str(made()["lanes"]["1"]["entry"]).encode())
    assert isinstance(token, Token)
    assert (token.query, token.batch, token.lane, token.rows) == ("q", 4, 0, 0)


def test_the_manifest_is_told_byte_for_byte_with_its_place() -> None:
    manifest = made()["manifest"]
    assert str(manifest["value"]).encode() == MANIFEST.to_bytes()
    assert (manifest["partition"], manifest["offset"]) == (0, 7)


def test_columns_are_told_by_their_places_and_kinds() -> None:
    assert made()["columns"] == {"value": {"at": 1, "kind": "string"}}


def test_a_whole_batch_is_told_its_manifest_and_where_it_must_lie() -> None:
    manifest = Manifest(query="q", batch=4, lanes=0, lanes_ever=2, cut="whole", announcement="a")
    told = json.loads(
        plan_whole(
            manifest, SETTINGS, 7, partitions=3, generation="g", columns={}, producer={"a": "b"}
        )
    )
    assert (told["transactional_id"], told["announcement"]) == ("s-driver", "a")
    assert (told["partitions"], told["generation"]) == (3, "g")
    assert (told["manifest"]["partition"], told["manifest"]["end"]) == (0, 7)
    assert told["manifest"]["key"] == "manifest"
    assert read_entry(told["manifest"]["entry"].encode()) == manifest


def test_an_answer_is_a_report_and_the_new_end_behind_token_and_marker() -> None:
    told = {
        "partition": 0,
        "lane": 1,
        "state": "committed",
        "rows": 3,
        "digest": "00",
        "size": 9,
        "detail": "",
        "fence_ms": 1.0,
        "read_ms": 1.0,
        "write_ms": 1.0,
        "commit_ms": 1.0,
        "entry_offset": 20,
    }
    report, end = read_report(json.dumps(told))
    assert (report.state, report.lane, report.rows, end) == (LaneState.COMMITTED, 1, 3, 22)


def test_options_are_javas_own_but_for_what_the_sink_decides() -> None:
    settings = producer_settings(OPTIONS, SETTINGS, KNOWN)
    assert settings["linger.ms"] == "5"
    assert settings["acks"] == "all"
    assert settings["transaction.timeout.ms"] == "60000"
    assert "max.poll.records" not in settings  # a consumer's


def test_the_ledger_is_read_by_the_users_login_and_nothing_else_of_theirs() -> None:
    settings = reader_settings(OPTIONS)
    assert settings["sasl.jaas.config"] == "secret"
    assert settings["enable.auto.commit"] == "false"
    assert "linger.ms" not in settings


def test_what_javas_producer_does_not_know_is_named() -> None:
    given = {**OPTIONS, "kafka.batch.num.messages": "9"}
    assert only_pythons(given, KNOWN) == ["kafka.batch.num.messages"]
    assert only_pythons(OPTIONS, KNOWN) == []


@pytest.mark.parametrize(
    ("given", "delivery", "request_ms"),
    [
        ({}, "60000", "30000"),  # the transaction's own timeout
        ({"kafka.delivery.timeout.ms": "2147483647"}, "60000", "30000"),
        ({"kafka.delivery.timeout.ms": "20000"}, "20000", "19995"),  # OPTIONS linger for 5 ms
        ({"kafka.request.timeout.ms": "90000"}, "60000", "59995"),
        ({"kafka.delivery.timeout.ms": "30000", "kafka.linger.ms": "0"}, "30000", "30000"),
        ({"kafka.delivery.timeout.ms": "9000", "kafka.request.timeout.ms": "800"}, "9000", "800"),
    ],
)
def test_nothing_is_waited_for_longer_than_its_transaction_lasts(
    given: dict[str, str], delivery: str, request_ms: str
) -> None:
    settings = producer_settings({**OPTIONS, **given}, SETTINGS, KNOWN)
    assert settings["delivery.timeout.ms"] == delivery
    assert settings["request.timeout.ms"] == request_ms


@pytest.mark.parametrize(
    ("given", "told"), [(None, "60000"), ("3000", "3000"), ("9223372036854775807", "60000")]
)
def test_no_call_blocks_for_longer_either(given: str | None, told: str) -> None:
    """Or a topic that is missing, or a coordinator, would be waited for without an end."""
    said = {} if given is None else {"kafka.max.block.ms": given}
    assert producer_settings({**OPTIONS, **said}, SETTINGS, KNOWN)["max.block.ms"] == told


def test_requests_fit_into_a_delivery_whatever_java_lingers_for_by_itself() -> None:
    """5 ms since Kafka 4.0, where ours would speak against the user's delivery.timeout.ms."""
    options = {"kafka.delivery.timeout.ms": "30000"}
    settings = producer_settings(options, SETTINGS, KNOWN)
    assert "linger.ms" not in settings
    assert settings["request.timeout.ms"] == "29995"


def test_python_can_write_whatever_spark_s_jvm_can() -> None:
    """A replay of what the JVM began: Java takes 1,048,576 bytes, librdkafka by itself less."""
    plain = {"kafka.bootstrap.servers": "b:1"}
    assert settings_of(plain)["message.max.bytes"] == "1048576"
    assert settings_of({**plain, "kafka.max.request.size": "9"})["message.max.bytes"] == "9"


def settings_of(options: dict[str, str]) -> dict[str, str]:
    made = make_settings(
        sink_id="s",
        topic="t",
        options=options,
        lanes=1,
        ledger_topic=None,
        takeover=False,
        adopt=False,
        small_lane_bytes=0,
        small_batch_bytes=0,
        fast=True,
    )
    return made.producer("s-lane-0")


def test_a_batch_is_never_larger_than_a_request_may_be() -> None:
    known = {*KNOWN, "batch.size", "max.request.size"}
    small = {**OPTIONS, "kafka.max.request.size": "500000"}
    assert producer_settings(OPTIONS, SETTINGS, known)["batch.size"] == "1000000"
    assert producer_settings(small, SETTINGS, known)["batch.size"] == "500000"


def test_what_librdkafka_says_otherwise_java_is_told_in_its_own_words(tmp_path: Path) -> None:
    store = tmp_path / "ca"
    store.write_text("-----BEGIN CERTIFICATE-----")
    given = {
        "kafka.ssl.truststore.location": str(store),
        "kafka.ssl.keystore.key": "-----BEGIN PRIVATE KEY-----",
        "kafka.ssl.endpoint.identification.algorithm": "none",
    }
    for settings in (producer_settings(given, SETTINGS, KNOWN), reader_settings(given)):
        assert settings["ssl.truststore.type"] == settings["ssl.keystore.type"] == "PEM"
        assert settings["ssl.endpoint.identification.algorithm"] == ""


@pytest.mark.parametrize(("name", "value"), [("compression.type", "inherit"), ("linger.ms", "0.5")])
def test_what_java_cannot_read_goes_through_python(name: str, value: str) -> None:
    given = {**OPTIONS, f"kafka.{name}": value}
    assert only_pythons(given, {*KNOWN, name}) == [f"kafka.{name}"]
