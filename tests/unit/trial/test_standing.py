"""What HELD rests on besides findings: an output that is whole, and stands still."""

import pytest

from onceproof.trial.judging.standing import DrainEnd, Standing, checks_that_count, doubts_of

DRAINED = {
    "end": DrainEnd.CAUGHT_UP,
    "stable": True,
    "position": {0: 9},
    "is_short": False,
    "was_broken": False,
}
OPEN = "a transaction stays open on the output topic"
NOT_DRAINED = "the output did not drain: the suspect was {} before its end"
GONE = "a judgement between iterations had findings that are gone now"


def standing(**changes: object) -> Standing:
    return Standing(**{**DRAINED, **changes})


def test_one_that_has_caught_up_leaves_no_doubt() -> None:
    assert doubts_of(standing(), is_complete=None, has_findings=False) == []


@pytest.mark.parametrize("end", [DrainEnd.SILENT, DrainEnd.STUCK, DrainEnd.SLOW])
def test_one_without_a_position_is_done_when_all_has_come_out(end: DrainEnd) -> None:
    assert doubts_of(standing(end=end), is_complete=True, has_findings=False) == []
    for is_complete in (False, None):
        doubts = doubts_of(standing(end=end), is_complete=is_complete, has_findings=False)
        assert doubts == [NOT_DRAINED.format(end.value)]


def test_a_position_that_went_back_is_a_doubt_whatever_has_come_out() -> None:
    doubts = doubts_of(standing(is_short=True), is_complete=True, has_findings=False)
    assert doubts == [NOT_DRAINED.format("caught up")]


def test_findings_that_are_gone_are_a_doubt() -> None:
    broken = standing(was_broken=True)
    assert doubts_of(broken, is_complete=None, has_findings=False) == [GONE]
    assert doubts_of(broken, is_complete=None, has_findings=True) == []


def test_what_a_transaction_hides_is_not_lost() -> None:
    hidden = standing(stable=False)
    assert doubts_of(hidden, is_complete=None, has_findings=False) == [OPEN]
    assert checks_that_count(hidden, ("lost", "wrong")) == ("wrong",)
    assert checks_that_count(standing(), ("lost", "wrong")) == ("lost", "wrong")


def test_who_was_slow_may_still_bring_what_is_missing() -> None:
    assert standing(end=DrainEnd.STUCK).is_settled
    assert not standing(end=DrainEnd.SLOW).is_settled
    assert not standing(stable=False).is_settled
