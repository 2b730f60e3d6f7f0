"""Each rule of LaneWriter.java, broken on purpose, shows. Kept, all comes out once, or not at all.

A twin      a batch's lanes are written by an attempt whose reports are lost, and then by the next
            one, as where an executor dies with its last words: rows come out twice
A driver    a batch that goes whole is written by another driver first, while this one keeps no
            producer that would be fenced: rows come out twice
A ruling    when a batch's tasks are about to begin, an operator has the batch skipped, and another
            driver passes over it: its rows come out all the same
"""

from contextlib import suppress
from typing import Any

import pytest
from jvm_bench import (
    Bench,
    Passes,
    expected,
    meanwhile,
    plant,
    states,
    whole,
    written_by_a_twin_first,
    written_by_another_driver_first,
)

from onceproof.sink import SinkError
from onceproof.sink.jvm import plan as told
from onceproof.sink.jvm.lanes import JvmLanes
from onceproof.sink.ledger.entries import Decision
from onceproof.sink.operator import rule
from onceproof.sink.reports import LaneState

LOOK = "            requireItsPlace(entry, place);\n"
COMMIT = "            producer.commitTransaction();\n"
TOKEN = "            Future told = producer.send(entry);\n"
OWN_TRANSACTION = "            producer.beginTransaction();\n"
MANIFEST = """            new Announcement(told.get("ledger").asText(), told.get("manifest"))
                    .require(Told.map(told.get("reader")), found.at);
"""
# mistake → what of the source becomes what; seen by a twin
MISTAKES = {
    "no_look_at_where_the_token_lies": {LOOK: ""},
    "looks_when_it_has_committed": {LOOK: "", COMMIT: COMMIT + LOOK},
    "token_in_a_transaction_of_its_own": {TOKEN: COMMIT + OWN_TRANSACTION + TOKEN},
}
# … by a ruling
DEAF = {"no_look_at_the_manifest": {MANIFEST: ""}}
OPENING = "            Fencing.Fenced found = Fencing.of("
# As a login that asks somebody who never answers; it does not hear an interrupt either.
HANGING = """            long hung = System.nanoTime();
                while (Writing.since(hung) < 15000) {
                    try {
                        Thread.sleep(100);
                    } catch (InterruptedException deaf) {
                        continue;
                    }
                }
"""


@pytest.mark.parametrize("name", MISTAKES)
def test_a_planted_mistake_repeats_rows(
    name: str, jvm_bench: Bench, in_the_jvm: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(name, MISTAKES[name], monkeypatch)
    sink = jvm_bench.sink()
    sink(jvm_bench.rows(0), 0)
    lost = written_by_a_twin_first(sink, jvm_bench, monkeypatch)
    assert {report.state for report in lost} == {LaneState.COMMITTED}
    assert len(in_the_jvm) == 3
    assert jvm_bench.visible() == expected(0, 1, 1)


def test_the_real_one_does_not(
    jvm_bench: Bench, in_the_jvm: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = jvm_bench.sink()
    sink(jvm_bench.rows(0), 0)
    written_by_a_twin_first(sink, jvm_bench, monkeypatch)
    assert states(in_the_jvm)[1:] == [{LaneState.COMMITTED}, {LaneState.FAILED}]
    assert jvm_bench.visible() == expected(0, 1)


@pytest.mark.jury
@pytest.mark.parametrize("name", MISTAKES)
def test_a_planted_mistake_repeats_a_whole_batch_of_another_driver(
    name: str, jvm_bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(f"whole.{name}", MISTAKES[name], monkeypatch)
    written_by_another_driver_first(whole(jvm_bench), jvm_bench, monkeypatch)
    assert jvm_bench.visible() == expected(0, 1, 1)


def test_the_real_one_finds_the_batch_of_the_other_driver(
    jvm_bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    written_by_another_driver_first(whole(jvm_bench), jvm_bench, monkeypatch)
    assert jvm_bench.visible() == expected(0, 1)


@pytest.mark.parametrize("name", DEAF)
def test_a_planted_mistake_writes_a_batch_that_an_operator_has_skipped(
    name: str, jvm_bench: Bench, in_the_jvm: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(name, DEAF[name], monkeypatch)
    skipped_meanwhile(jvm_bench, monkeypatch)
    assert states(in_the_jvm)[1] == {LaneState.COMMITTED}
    assert jvm_bench.visible() == expected(0, 1)


def test_the_real_one_writes_nothing_of_a_batch_that_an_operator_has_skipped(
    jvm_bench: Bench, in_the_jvm: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    skipped_meanwhile(jvm_bench, monkeypatch)
    assert states(in_the_jvm)[1] == {LaneState.FAILED}
    assert jvm_bench.visible() == expected(0)


def test_a_lane_that_never_opens_is_given_up_and_written_by_python(
    jvm_bench: Bench, in_the_jvm: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant("hanging", {OPENING: HANGING + OPENING}, monkeypatch)
    monkeypatch.setattr(told, "MANIFEST_S_MAX", 0.5)
    sink = jvm_bench.sink(options={"kafka.transaction.timeout.ms": "2000"})
    sink(jvm_bench.rows(0), 0)
    assert states(in_the_jvm) == [{LaneState.FAILED}]
    assert {report.detail for report in in_the_jvm[0]} == {
        "java.lang.IllegalStateException: not open after 4500 ms"
    }
    assert jvm_bench.visible() == expected(0)


def skipped_meanwhile(jvm_bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = jvm_bench.sink()
    sink(jvm_bench.rows(0), 0)

    def skip(lanes: JvmLanes, taken: Any) -> None:
        lanes._generation = "of this moment"  # what was fenced before that is fenced by the ruling
        sink._announcer.confirm()
        rule(taken.settings, batch=1, decision=Decision.SKIP, reason="seen and judged")
        jvm_bench.sink()(jvm_bench.rows(1), 1)

    meanwhile(monkeypatch, skip)
    with suppress(SinkError):  # it is led by another one now
        sink(jvm_bench.rows(1), 1)
