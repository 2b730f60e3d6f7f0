"""One step of a program: started if it does not run, stopped for good if it does."""

import pytest

from onceproof.errors import FaultError
from onceproof.faults.toggle import STARTED, Toggle


class MadeUpVictim:
    name = "instance 1"

    def __init__(self, *, ends_cleanly: bool = True) -> None:
        self.runs = False
        self._ends_cleanly = ends_cleanly

    def is_running(self) -> bool:
        return self.runs

    def start(self) -> None:
        self.runs = True

    def stop(self) -> bool:
        self.runs = False
        return self._ends_cleanly


def test_it_starts_then_stops_and_nothing_is_healed() -> None:
    victim = MadeUpVictim()
    toggle = Toggle(victim)  # type: ignore[arg-type]
    assert (toggle.inject(), victim.runs) == (STARTED, True)
    toggle.heal()
    assert victim.runs
    assert (toggle.inject(), victim.runs) == ("SIGTERM; it ended by itself, and stays away", False)
    toggle.heal()
    assert not victim.runs
    assert toggle.is_healed()


def test_one_that_does_not_end_when_asked_did_not_apply() -> None:
    victim = MadeUpVictim(ends_cleanly=False)
    victim.start()
    with pytest.raises(FaultError, match="did not end on SIGTERM"):
        Toggle(victim).inject()  # type: ignore[arg-type]
