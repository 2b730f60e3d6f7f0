"""The least ACLs, as a user reads them."""

from onceproof.sink.client.access import least_access


def test_the_least_access_is_named_after_the_sink() -> None:
    needs = least_access(sink_id="orders", topic="out", ledger_topic="orders.ledger")
    assert [str(need) for need in needs] == [
        "write on topic out",
        "write on topic orders.ledger",
        "read on topic orders.ledger",
        "describe_configs on topic orders.ledger",
        "create on topic orders.ledger",
        "alter on topic orders.ledger",
        "write on transactional_id orders-*",
    ]
