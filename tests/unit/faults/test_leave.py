"""A victim that is asked to end, while what follows is carried out."""

import threading

import pytest

from onceproof.errors import FaultError
from onceproof.faults.leave import Leave


class MadeUpBroker:
    """Ends when it may."""

    name = "broker 3"

    def __init__(self, *, ends_cleanly: bool = True) -> None:
        self.runs = True
        self.may_end = threading.Event()
        self._ends_cleanly = ends_cleanly

    def is_running(self) -> bool:
        return self.runs

    def stop(self) -> bool:
        assert self.may_end.wait(10)
        self.runs = False
        return self._ends_cleanly

    def start(self) -> None:
        assert not self.runs
        self.runs = True


def test_nobody_waits_until_it_is_healed() -> None:
    broker = MadeUpBroker()
    fault = Leave(broker)  # type: ignore[arg-type]
    assert fault.inject() == "SIGTERM; it was not waited for"
    assert broker.runs
    broker.may_end.set()
    fault.heal()
    assert fault.is_healed()
    assert fault.outcome() == "it ended by itself"


def test_one_that_had_to_be_killed_did_not_apply() -> None:
    broker = MadeUpBroker(ends_cleanly=False)
    broker.may_end.set()
    fault = Leave(broker)  # type: ignore[arg-type]
    fault.inject()
    fault.heal()
    with pytest.raises(FaultError, match="broker 3 did not end on SIGTERM and was killed"):
        fault.outcome()
