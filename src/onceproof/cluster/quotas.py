"""Client quotas of a cluster of ours: how many bytes a second a client id may write."""

from collections.abc import Iterable
from typing import Any

from kafka.protocol.admin import AlterClientQuotasRequest

from onceproof.cluster.client import BrokerClient, check

CLIENT_ID = "client-id"
PRODUCER_BYTE_RATE = "producer_byte_rate"


def limit_producers(client: BrokerClient, client_ids: Iterable[str], bytes_per_s: int) -> None:
    """Each of them, by its own quota."""
    data: Any = AlterClientQuotasRequest.EntryData
    rate = data.OpData(key=PRODUCER_BYTE_RATE, value=float(bytes_per_s), remove=False)
    entries = [
        data(
            entity=[data.EntityData(entity_type=CLIENT_ID, entity_name=client_id)],
            ops=[rate],
        )
        for client_id in client_ids
    ]
    answer = client.ask_any(AlterClientQuotasRequest(entries=entries, validate_only=False))
    for entry in answer.entries:
        check(entry.error_code, f"the quota {PRODUCER_BYTE_RATE} was not set")
