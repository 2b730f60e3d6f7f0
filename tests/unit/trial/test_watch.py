"""Who ends by himself: on trial, or never up."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from onceproof.errors import OnceproofError
from onceproof.trial.watch import NeverUp, SuspectDied, Watch


@dataclass
class Ended:
    """As much of an instance as a turn of the watch asks for."""

    starts: int = 1
    was_up: bool = False
    complaint: str = ""
    name: str = "instance 0"
    log: Path = Path("instance-0.log")
    code: int = 1

    def listen(self) -> None:
        pass

    def notice_exit(self) -> int:
        return self.code

    def last_words(self) -> str:
        return "NoClassDefFoundError"


def watching(instance: Ended, settings: Mapping[str, str] | None) -> Watch:
    """`settings`: those that a suspect of ours has; None: the user's own command."""
    suspect = SimpleNamespace(settings=settings)
    stage = SimpleNamespace(instances=[instance], plan=SimpleNamespace(suspect=suspect))
    return Watch(cast(Any, stage))


def test_one_of_ours_that_cannot_even_start_has_not_been_on_trial() -> None:
    with pytest.raises(NeverUp) as told:
        watching(Ended(), {}).turn()
    assert str(told.value) == (
        "instance 0 could not be started: exit code 1; its last words: NoClassDefFoundError;"
        " see logs/instance-0.log"
    )
    # Or it would count as a fault that could not be applied, and the run would go on without it.
    assert not isinstance(told.value, OnceproofError)


@pytest.mark.parametrize(
    ("instance", "settings"),
    [(Ended(was_up=True), {}), (Ended(starts=2), {}), (Ended(), None)],
    ids=["was up", "was started before", "the user's own"],
)
def test_who_was_up_or_is_not_ours_has_died(
    instance: Ended, settings: Mapping[str, str] | None
) -> None:
    with pytest.raises(SuspectDied, match="instance 0 ended by itself with exit code 1"):
        watching(instance, settings).turn()


def test_a_sigkill_of_somebody_else_is_told_as_that() -> None:
    with pytest.raises(SuspectDied, match="instance 0 was killed, and not by us"):
        watching(Ended(was_up=True, code=-9), {}).turn()
