"""What the settings of a trial become in a consumer's own configuration."""

import json
from typing import Any

import pytest

from onceproof.suspects.consumers import contract


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("ONCEPROOF_BOOTSTRAP_SERVERS", "localhost:1")
    monkeypatch.setenv("ONCEPROOF_APP_ID", "app")
    monkeypatch.setenv("ONCEPROOF_INSTANCE", "3")

    def of(**given: str) -> dict[str, Any]:
        monkeypatch.setenv("ONCEPROOF_SETTINGS", json.dumps(given))
        return contract.consumer_settings()

    return of


def test_by_default_a_rebalance_stops_the_world(settings: Any) -> None:
    plain = settings()
    assert plain["partition.assignment.strategy"] == "range"
    assert "group.instance.id" not in plain
    assert not contract.moves_only_what_must()


def test_the_cooperative_assignor_and_the_new_protocol_move_only_what_must(settings: Any) -> None:
    assert settings(assignor="cooperative-sticky")["session.timeout.ms"] == 3_000
    assert contract.moves_only_what_must()
    new = settings(group_protocol="consumer")
    assert contract.moves_only_what_must()
    # There the broker assigns and sets the session's time: the client refuses both settings.
    assert {"partition.assignment.strategy", "session.timeout.ms"}.isdisjoint(new)


def test_a_static_member_has_the_name_of_its_instance(settings: Any) -> None:
    assert settings(static_membership="true")["group.instance.id"] == "app-3"


def test_how_long_a_silent_member_is_waited_for_can_be_set(settings: Any) -> None:
    assert settings(session_timeout_ms="15000")["session.timeout.ms"] == 15_000


def test_a_setting_that_is_none_of_the_known_is_told_before_anything_starts(
    settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        settings(assignor="alphabetical")
    said = json.loads(capsys.readouterr().out)
    assert said["event"] == "misconfigured"
    assert said["why"] == (
        "--set assignor takes range, roundrobin, cooperative-sticky; got 'alphabetical'"
    )
