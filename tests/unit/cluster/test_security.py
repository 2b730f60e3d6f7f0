"""A secured cluster's properties: one listener asks for a login, the others stay open."""

from pathlib import Path

from onceproof.cluster.security import Access, Secured
from onceproof.cluster.settings import BrokerPlan, broker_properties


def test_only_the_suspects_must_log_in() -> None:
    ports = {"SUSPECTS": 1, "JUDGE": 2, "INTERNAL": 3, "CONTROLLER": 4}
    plan = BrokerPlan(id=1, ports=ports, directory=Path("broker-1"))
    secured = Secured(ca=Path("ca.pem"), keystore=Path("broker.p12"))
    properties = broker_properties(plan, [plan], secured.properties())
    assert properties["listener.security.protocol.map"] == (
        "SUSPECTS:SASL_SSL,JUDGE:PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT"
    )
    assert properties["super.users"] == "User:ANONYMOUS"
    store = Path(properties["listener.name.suspects.ssl.keystore.location"])
    assert store == Path("broker.p12").absolute()


def test_an_access_is_told_in_words() -> None:
    access = Access(operation="write", resource="transactional_id", name="a-", prefixed=True)
    assert str(access) == "write on transactional_id a-*"
