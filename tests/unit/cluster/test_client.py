"""What is said where no broker answers. Sockets, and no broker."""

import gc
import socket

import pytest

from onceproof.cluster.client import BrokerClient, check
from onceproof.deadline import Deadline
from onceproof.errors import ClusterError

TRIED_S = 0.2


def refusal(address: str, **security: str) -> str:
    with pytest.raises(ClusterError) as error:
        BrokerClient(address, deadline=Deadline(TRIED_S), security=security)
    return str(error.value)


def test_a_refused_connection_is_told_as_that_and_what_to_check() -> None:
    assert refusal("127.0.0.1:9") == (
        "no broker answers at 127.0.0.1:9: KafkaConnectionError: 111 ECONNREFUSED; check the"
        " address, and whether it wants a login or TLS"
    )


# kafka-python leaves the socket of an unfinished handshake to the collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_one_that_never_answers_a_tls_handshake_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("onceproof.cluster.client.WHY_MS_MAX", 100)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        assert "Timed out after 100 ms" in refusal(address, security_protocol="SSL")
        gc.collect()


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (3, "topic x: UnknownTopicOrPartitionError"),
        (29, "topic x: TopicAuthorizationFailedError; this user may not ask that; give the"),
        (30, "topic x: GroupAuthorizationFailedError; this user may not ask that"),
    ],
)
def test_an_error_code_is_told_by_its_name_and_a_forbidden_question_as_that(
    code: int, told: str
) -> None:
    with pytest.raises(ClusterError) as error:
        check(code, "topic x")
    assert str(error.value).startswith(told)
    check(0, "topic x")
