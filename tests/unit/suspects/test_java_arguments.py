"""What a suspect in Java is told on its command line."""

from onceproof.suspects.java.__main__ import arguments


def test_a_service_is_told_all_its_settings_and_a_textbook_example_none() -> None:
    settings = {"clients": "4.3.1", "consumer.max.poll.interval.ms": "5000"}
    told = ["clients=4.3.1", "consumer.max.poll.interval.ms=5000"]
    assert arguments("OwnOffsets", settings) == told
    assert arguments("TransactionalCopy", settings) == []
