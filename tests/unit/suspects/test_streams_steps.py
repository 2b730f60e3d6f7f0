"""What each workload does with one record, on a state that is a dict."""

import json

from onceproof.suspects.streams.steps import STEPS, Late, State
from onceproof.suspects.suspect import ALL_WORKLOADS


class Kept(dict[str, str]):
    def put(self, key: str, text: str) -> None:
        self[key] = text


def record(seq: int, value: int = 0) -> str:
    return json.dumps({"id": f"k-{seq}", "seq": seq, "value": value})


def run(workload: str, *values: str) -> list[str | None]:
    state: State = Kept()
    return [STEPS[workload]("k", value, state) for value in values]


def test_there_is_a_step_for_each_workload() -> None:
    assert set(STEPS) == set(ALL_WORKLOADS)


def test_copy_leaves_a_record_as_it_is() -> None:
    assert run("copy", record(0)) == [record(0)]


def test_fold_counts_and_keeps_the_highest() -> None:
    first, second, third = map(json.loads, run("fold", record(0, -5), record(1, 9), record(2, 3)))
    assert first == {"key": "k", "count": 1, "max": -5, "id": "k-0"}
    assert second == {"key": "k", "count": 2, "max": 9, "id": "k-1"}
    assert third == {"key": "k", "count": 3, "max": 9, "id": "k-2"}


def test_dedup_lets_each_id_pass_once() -> None:
    assert run("dedup", record(0), record(1), record(0)) == [record(0), record(1), None]


def test_last_says_what_it_found_and_what_it_should_have() -> None:
    first, second, skipped = map(json.loads, run("last", record(0), record(1), record(5)))
    assert (first["expected"], first["found"]) == (-1, -1)
    assert (second["expected"], second["found"]) == (0, 0)
    assert (skipped["expected"], skipped["found"]) == (4, 1)


def test_late_drops_what_is_not_above_the_watermark_that_was_written() -> None:
    state, late = Kept(), Late(STEPS["copy"])
    assert [late("k", record(seq), state) for seq in (0, 1)] == [record(0), record(1)]
    late.write(state)
    assert [late("k", record(seq), state) for seq in (1, 2)] == [None, record(2)]
    assert late("other", record(0), state) == record(0)
    assert Late(STEPS["copy"])("k", record(2), state) == record(2)  # never written down: not late
