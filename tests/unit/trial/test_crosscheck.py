"""Where the second reader finds something else than Spark, nothing can be said of the suspect."""

from dataclasses import replace

from onceproof.checks.judge import Judgement
from onceproof.cluster.rawlog import RawRecord
from onceproof.errors import ClusterError
from onceproof.history.finding import Finding, Witness
from onceproof.trial.judging.crosscheck import disagreements
from onceproof.trial.judging.judge import Judged

FACTS = {"topic": "out", "partition": 0, "offset": 7, "key": "17"}
WITNESS = Witness(sentence="17-58 came twice", facts=FACTS)
JUDGED = Judged(
    judgement=Judgement(findings=(Finding(anomaly="duplicated", count=1, witnesses=(WITNESS,)),)),
    input_flaws=(),
    is_complete=None,
    counts={},
    input_by_partition={0: 5, 1: 3},
    output_by_partition={0: 8},
)


class MadeUpLog:
    def __init__(self, key: bytes | None = b"17") -> None:
        self.visible: dict[str, dict[int, int]] = {"in": {0: 5, 1: 3}, "out": {0: 8}}
        self.record: RawRecord | None = RawRecord(offset=7, timestamp_ms=0, key=key, value=b"{}")
        self.silent = False

    def count_visible(self, topic: str) -> dict[int, int]:
        if self.silent:
            raise ClusterError("no answer")
        return self.visible[topic]

    def read_record(self, topic: str, partition: int, offset: int) -> RawRecord | None:
        assert (topic, partition, offset) == ("out", 0, 7)
        if self.silent:
            raise ClusterError("no answer")
        return self.record


def found(log: MadeUpLog, judged: Judged = JUDGED) -> list[str]:
    return disagreements(log, "in", "out", judged)


def test_two_readers_that_agree() -> None:
    assert found(MadeUpLog()) == []


def test_another_count_is_told_by_partition() -> None:
    log = MadeUpLog()
    log.visible = {"in": {0: 5}, "out": {0: 8, 1: 2}}
    assert found(log) == [
        "in-1: Spark read 3 records, raw fetches 0",
        "out-1: Spark read 0 records, raw fetches 2",
    ]


def test_a_witness_that_is_not_there() -> None:
    log = MadeUpLog()
    log.record = None
    assert found(log) == ["witness of duplicated at out-0@7: raw fetches find no record there"]


def test_a_witness_with_another_key() -> None:
    told = "witness of duplicated at out-0@7: key '17', raw {}"
    assert found(MadeUpLog(key=b"4")) == [told.format("'4'")]
    assert found(MadeUpLog(key=None)) == [told.format("None")]


def test_a_log_that_cannot_be_read_again_agrees_with_nothing() -> None:
    log = MadeUpLog()
    log.silent = True
    assert found(log) == [
        "in could not be read a second time: no answer",
        "out could not be read a second time: no answer",
        "witness of duplicated at out-0@7 could not be read again: no answer",
    ]


def test_a_witness_that_names_no_place_is_not_looked_up() -> None:
    placeless = Witness(sentence="nothing moved", facts={"from_s": 1.0})
    finding = Finding(anomaly="stuck", count=1, witnesses=(placeless,))
    log = MadeUpLog()
    log.record = None
    assert found(log, replace(JUDGED, judgement=Judgement(findings=(finding,)))) == []
