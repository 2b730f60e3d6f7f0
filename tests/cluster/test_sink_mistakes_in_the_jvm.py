"""Each rule of LaneWriter.java, broken on purpose, shows: rows come out twice. Kept, once.

The same play each time: a batch's lanes are written by an attempt whose reports are lost, and then
by the next one, as where an executor dies with its last words.
"""

import pytest
from jvm_bench import Bench, Passes, expected, states, written_by_a_twin_first

from onceproof.sink.jvm import program
from onceproof.sink.reports import LaneState

LOOK = "                requireItsPlace();\n"
COMMIT = "                producer.commitTransaction();\n"
TOKEN = "                Future token = producer.send(token());\n"
OWN_TRANSACTION = "                producer.beginTransaction();\n"
# mistake → what of the source becomes what
MISTAKES = {
    "no_look_at_where_the_token_lies": {LOOK: ""},
    "looks_when_it_has_committed": {LOOK: "", COMMIT: COMMIT + LOOK},
    "token_in_a_transaction_of_its_own": {TOKEN: COMMIT + OWN_TRANSACTION + TOKEN},
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_planted_mistake_repeats_rows(
    name: str, jvm_bench: Bench, in_the_jvm: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(name, monkeypatch)
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


def plant(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program beside the real one: its classes are in a package of their own."""
    real, package = program._text, f"onceproof.mistakes.{name}"

    def mistaken(source: str) -> str:
        text = real(source).replace("package onceproof.sink;", f"package {package};")
        for right, wrong in MISTAKES[name].items() if source == "LaneWriter.java" else ():
            assert text.count(right) == 1, right
            text = text.replace(right, wrong)
        return text

    monkeypatch.setattr(program, "_text", mistaken)
    monkeypatch.setattr(program, "CLASS", f"{package}.LaneWriter")
    monkeypatch.setattr(program, "_ready", {})
