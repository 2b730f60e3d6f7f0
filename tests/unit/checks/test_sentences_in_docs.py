"""docs/reading_a_report.md: a section for each anomaly, with a sentence of a real report."""

from pathlib import Path
from typing import Any

import pytest

from onceproof.checks.catalog import CHECKS

DOC = Path(__file__).parents[3] / "docs" / "reading_a_report.md"
OUT_7 = {"topic": "out", "partition": 0, "offset": 7}
IN_401 = {"input_topic": "in", "input_partition": 0, "input_offset": 401}
WRITER = {"transactional_id": "app-0", "producer_id": 4000, "epoch": 3}

TOLD = {"instance": 0, "log_partition": 1, "log_offset": 57}

EXAMPLES: dict[str, dict[str, Any]] = {
    "premature-offset": {**IN_401, **TOLD, **WRITER},
    "stale-offset": {**IN_401, **TOLD, "later_position": 421, "late_s": 7.25},
    "lost": {**IN_401, "unit": "17-58", "position": 403, "came": 0, "cumulative": False},
    "duplicated": {
        **OUT_7,
        "offset": 977,
        "unit": "17-58",
        "copy": 2,
        "allowed": 1,
        "first_topic": "out",
        "first_partition": 0,
        "first_offset": 401,
    },
    "diverged": {
        **OUT_7,
        "offset": 9,
        "unit": "17-58",
        "payload": "31",
        "first_topic": "out",
        "first_partition": 0,
        "first_offset": 7,
        "first_payload": "58",
    },
    "regressed": {
        **OUT_7,
        "offset": 977,
        "key": "17",
        "measure": "count",
        "now": 31,
        "before": 58,
        "before_offset": 401,
    },
    "stale": {**OUT_7, "offset": 977, "unit": "17-58", "state_expected": 57, "state_found": 31},
    "wrong": {
        **OUT_7,
        **IN_401,
        "unit": "17-58",
        "kind": "differs",
        "payload": "31",
        "allowed_payload": "58",
    },
    "invented": {**OUT_7, "offset": 8, "unit": "17-999", "payload": "x"},
    "leaked": {
        **OUT_7,
        "offset": 4,
        "unit": "a-1",
        "outcome": "ABORTED",
        "producer_id": 4000,
        "epoch": 3,
        "base_offset": 3,
        "last_offset": 4,
    },
    "reordered": {
        **OUT_7,
        **IN_401,
        "offset": 403,
        "unit": "17-57",
        "input_offset": 300,
        "before_unit": "17-60",
        "before_offset": 402,
        "before_input_offset": 303,
    },
    "commit-without-offsets": {**OUT_7, **WRITER, "offset": 401, "writes": 2},
    "unguarded-offset-commit": {
        **IN_401,
        "input_offset": 120,
        "transactional_id": "app-0",
        "next_transactional_id": "app-1",
        "next_offset": 140,
    },
    "deleted-unread": {
        "deleted_topic": "in",
        "deleted_partition": 0,
        "deleted_offset": 150,
        "committed_offset": 120,
    },
    "zombie-write": {**OUT_7, **WRITER, "offset": 401, "after_s": 0.5, "later_epoch": 4},
    "shared-transactional-id": {
        "transactional_id": "app",
        "instance": 0,
        "epoch": 3,
        "other_instance": 1,
        "other_epoch": 4,
        "epoch_again": 5,
        "within_s": 2.5,
    },
    "hanging-transaction": {
        **WRITER,
        "partition": 0,
        "base_offset": 17,
        "last_offset": 21,
        "later_epoch": 4,
    },
    "stuck": {"quiet_s": 11.5, "since_s": 25.0, "at_s": 36.5, "remaining": 200},
    "died": {
        "subject": "instance 2",
        "at_s": 12.34,
        "code": "1",
        "tail": "Traceback\nValueError: no such topic\n",
        "log": "logs/instance-2.log",
    },
}


@pytest.mark.parametrize("name", CHECKS)
def test_the_example_of_an_anomaly_is_what_its_check_says(name: str) -> None:
    section = DOC.read_text().partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    assert f"\n> {CHECKS[name].tell(EXAMPLES[name])}\n" in section
