from pathlib import Path

from onceproof.cluster.settings import LISTENERS, BrokerPlan, broker_properties, to_text


def plan(id: int, advertised: dict[str, str] | None = None) -> BrokerPlan:
    ports = {name: 1000 * id + place for place, name in enumerate(LISTENERS)}
    return BrokerPlan(
        id=id, ports=ports, directory=Path(f"/lab/broker-{id}"), advertised=advertised or {}
    )


def test_three_brokers_replicate_to_all_and_need_two() -> None:
    properties = broker_properties(plan(2), [plan(1), plan(2), plan(3)], {})
    assert properties["default.replication.factor"] == "3"
    assert properties["min.insync.replicas"] == "2"
    assert properties["transaction.state.log.min.isr"] == "2"


def test_one_broker_replicates_to_itself() -> None:
    properties = broker_properties(plan(1), [plan(1)], {})
    assert properties["default.replication.factor"] == "1"
    assert properties["min.insync.replicas"] == "1"


def test_each_listener_is_bound_to_its_own_port_on_this_machine_only() -> None:
    properties = broker_properties(plan(2), [plan(2)], {})
    assert properties["listeners"] == (
        "SUSPECTS://127.0.0.1:2000,JUDGE://127.0.0.1:2001,"
        "INTERNAL://127.0.0.1:2002,CONTROLLER://127.0.0.1:2003"
    )


def test_an_advertised_address_replaces_the_bound_one_for_that_listener_only() -> None:
    proxied = plan(2, {"SUSPECTS": "127.0.0.1:9999"})
    properties = broker_properties(proxied, [proxied], {})
    assert properties["advertised.listeners"] == (
        "SUSPECTS://127.0.0.1:9999,JUDGE://127.0.0.1:2001,INTERNAL://127.0.0.1:2002"
    )


def test_all_brokers_vote_at_their_controller_ports() -> None:
    properties = broker_properties(plan(1), [plan(1), plan(2)], {})
    assert properties["controller.quorum.voters"] == "1@127.0.0.1:1003,2@127.0.0.1:2003"


def test_with_a_controller_apart_it_alone_votes_and_has_no_listener_but_its_own() -> None:
    apart = BrokerPlan(
        id=100, ports={"CONTROLLER": 9}, directory=Path("/lab/controller-100"), is_controller=True
    )
    plans = [apart, plan(1), plan(2), plan(3)]
    controller = broker_properties(apart, plans, {})
    assert controller["process.roles"] == "controller"
    assert controller["listeners"] == "CONTROLLER://127.0.0.1:9"
    assert "advertised.listeners" not in controller
    broker = broker_properties(plan(2), plans, {})
    assert broker["process.roles"] == "broker"
    assert "CONTROLLER://" not in broker["listeners"]
    assert broker["controller.quorum.voters"] == "100@127.0.0.1:9"
    # It is no broker: nothing is replicated to it.
    assert broker["default.replication.factor"] == controller["default.replication.factor"] == "3"


def test_overrides_have_the_last_word() -> None:
    properties = broker_properties(plan(1), [plan(1)], {"min.insync.replicas": "5", "new": "x"})
    assert (properties["min.insync.replicas"], properties["new"]) == ("5", "x")


def test_a_backslash_and_a_line_end_survive_the_properties_format() -> None:
    assert to_text({"a": "c:\\d", "b": "1\n2"}) == "a=c:\\\\d\nb=1\\n2\n"
