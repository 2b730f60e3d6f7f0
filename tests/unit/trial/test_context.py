"""A suspect that stands still: what it logged meanwhile stands beside the finding."""

from onceproof.history.event import Event
from onceproof.history.finding import Finding, Witness
from onceproof.trial.context import with_own_words

FENCED = "ProducerFencedException: There is a newer producer"
STUCK = Finding(
    anomaly="stuck",
    count=1,
    witnesses=(Witness(sentence="nothing moved.", facts={"since_s": 20.0}),),
)


def logged(at_s: float, text: str) -> Event:
    return Event(at_s=at_s, kind="note", subject="instance 0", detail={"text": text})


def test_the_exceptions_since_nothing_moves_are_told_each_once() -> None:
    events = [
        logged(19.0, "TimeoutException: too early to matter"),
        logged(51.0, f"INFO TransactionManager - org.apache.{FENCED}"),
        logged(51.5, f"Caused by: {FENCED}"),
        logged(52.0, "all is well"),
    ]
    ((witness,),) = (finding.witnesses for finding in with_own_words([STUCK], events))
    assert witness.sentence == f"nothing moved. Then at 51.0 s instance 0 logged {FENCED}"
    assert witness.facts == {"since_s": 20.0, "exceptions": ["ProducerFencedException"]}


def test_what_logs_nothing_and_what_is_no_standstill_stays_as_it_is() -> None:
    lost = Finding(anomaly="lost", count=1, witnesses=(Witness(sentence="lost."),))
    events = [logged(51.0, "TimeoutException: late")]
    assert with_own_words([lost], events) == [lost]
    ((witness,),) = (finding.witnesses for finding in with_own_words([STUCK], []))
    assert (witness.sentence, witness.facts["exceptions"]) == ("nothing moved.", [])
