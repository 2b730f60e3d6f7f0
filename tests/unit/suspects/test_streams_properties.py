"""Settings become properties of Kafka Streams: ours, its own, and who has the last word."""

import pytest

from onceproof.errors import UsageError
from onceproof.jars import streams_versions
from onceproof.suspects.streams.config_file import OURS
from onceproof.suspects.streams.properties import (
    AT_LEAST_ONCE,
    EXACTLY_ONCE,
    SETTINGS,
    is_cached,
    our_properties,
    own_properties,
    state_bytes,
)

GIVEN = {
    "ONCEPROOF_APP_ID": "app",
    "ONCEPROOF_INSTANCE": "2",
    "ONCEPROOF_BOOTSTRAP_SERVERS": "somewhere:1",
    "ONCEPROOF_STATE_DIR": "state",
    "ONCEPROOF_TRANSACTION_TIMEOUT_MS": "9000",
}


def test_the_contract_and_the_guarantee_become_properties() -> None:
    properties = our_properties(EXACTLY_ONCE, SETTINGS, GIVEN)
    expected = {
        "application.id": "app",
        "client.id": "app-2",
        "bootstrap.servers": "somewhere:1",
        "state.dir": "state",
        "processing.guarantee": "exactly_once_v2",
        "producer.transaction.timeout.ms": "9000",
        "commit.interval.ms": "500",
        "num.standby.replicas": "0",
        "num.stream.threads": "1",
    }
    assert {name: properties[name] for name in expected} == expected


def test_without_transactions_there_is_no_timeout_of_theirs() -> None:
    properties = our_properties(AT_LEAST_ONCE, SETTINGS, GIVEN)
    assert "producer.transaction.timeout.ms" not in properties
    assert properties["processing.guarantee"] == "at_least_once"


def test_settings_have_names_of_ours_and_streams_own_have_the_last_word() -> None:
    settings = {
        **SETTINGS,
        "standbys": "1",
        "commit_interval_ms": "1000",
        "streams.commit.interval.ms": "7",
        "streams.max.warmup.replicas": "5",
    }
    properties = our_properties(EXACTLY_ONCE, settings, GIVEN) | own_properties(settings)
    assert properties["num.standby.replicas"] == "1"
    assert properties["commit.interval.ms"] == "7"
    assert properties["max.warmup.replicas"] == "5"
    assert "streams" not in properties


def test_with_its_defaults_streams_is_told_only_what_a_trial_rests_on() -> None:
    properties = our_properties(EXACTLY_ONCE, {**SETTINGS, "defaults": "true"}, GIVEN)
    assert set(properties) == {*OURS, "auto.offset.reset"}


def test_a_static_member_has_the_name_of_its_instance() -> None:
    static = our_properties(EXACTLY_ONCE, {**SETTINGS, "static_membership": "true"}, GIVEN)
    assert static["group.instance.id"] == "instance-2"
    assert "group.instance.id" not in our_properties(EXACTLY_ONCE, SETTINGS, GIVEN)


def test_what_is_the_topologys_is_not_told_to_streams() -> None:
    settings = {**SETTINGS, "cache": "true", "state_bytes": "1024"}
    assert (is_cached(settings), state_bytes(settings)) == (True, 1024)
    assert not {"cache", "state_bytes"} & set(our_properties(EXACTLY_ONCE, settings, GIVEN))
    with pytest.raises(UsageError, match="takes true or false; got 'yes'"):
        is_cached({"cache": "yes"})


def test_the_versions_of_the_founding_stories_are_in_the_lock() -> None:
    wanted = {"3.3.1", "3.7.2", "3.8.0", "3.9.1", "4.1.2", "4.2.1", "4.3.1"}
    assert wanted <= set(streams_versions())
    assert streams_versions() == sorted(streams_versions(), key=lambda v: [*map(int, v.split("."))])
