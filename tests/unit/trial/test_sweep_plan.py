"""What one cell of a sweep does; and which cells a suspect reaches."""

from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from onceproof.errors import UsageError
from onceproof.faults.crash_point import FRAMES, crash_points
from onceproof.trial.many.survey import is_reached, read_sightings
from onceproof.trial.many.sweep_plan import SweepRequest, plan_cell, plan_survey
from onceproof.wire.recorder import SCHEMA


def point(name: str):  # type: ignore[no-untyped-def]
    return crash_points(name)[0]


def test_a_cell_is_one_fault_and_knows_its_own_command(tmp_path: Path) -> None:
    request = SweepRequest(suspect="consumer_transactional", seed=3)
    plan = plan_cell(request, point("EndTxn-request-late"), tmp_path)
    assert len(plan.schedule) == 1
    assert plan.listeners_behind_proxy == {"INTERNAL"}
    assert plan.repeat == (
        "onceproof sweep --suspect consumer_transactional --only EndTxn-request-late --seed 3"
    )
    assert plan.runs_dir == tmp_path / "cells"


def test_who_is_paused_has_a_rival_where_there_can_be_one(tmp_path: Path) -> None:
    paused = point("EndTxn-request-pause")
    consumer = SweepRequest(suspect="consumer_transactional")
    assert plan_cell(consumer, paused, tmp_path).scenario.instances == 2
    spark = SweepRequest(suspect="spark_exactly_once")
    assert plan_cell(spark, paused, tmp_path).scenario.instances == 1


def test_the_pause_outlasts_the_transaction(tmp_path: Path) -> None:
    plan = plan_cell(
        SweepRequest(suspect="consumer_transactional"), point("Produce-request-pause"), tmp_path
    )
    assert plan.schedule[0].heal_after_s > plan.scenario.transaction_timeout_ms / 1000


def test_what_the_user_asks_for_has_the_last_word(tmp_path: Path) -> None:
    request = SweepRequest(
        suspect="spark_exactly_once", workload="copy", records=50, settings=("lanes=3",)
    )
    plan = plan_survey(request, tmp_path)
    assert (plan.scenario.workload, plan.input.records) == ("copy", 50)
    assert plan.settings["lanes"] == "3"
    with pytest.raises(UsageError, match="unknown suspect 'nobody'"):
        plan_survey(SweepRequest(suspect="nobody"), tmp_path)


def frames(directory: Path, *rows: dict[str, object]) -> Path:
    directory.mkdir()
    whole = [{**dict.fromkeys(SCHEMA.names), "places": [], "decoded": True, **row} for row in rows]
    table = pyarrow.Table.from_pylist(whole, schema=SCHEMA)
    pyarrow.parquet.write_table(table, directory / "wire-00001.parquet")
    return directory


def test_only_what_was_sent_by_whom_it_concerns_is_reached(tmp_path: Path) -> None:
    ledger = {"topic": "app.ledger", "partition": 0, "offset": 3}
    output = {"topic": "app-out", "partition": 0, "offset": 3}
    seen = read_sightings(
        frames(
            tmp_path / "wire",
            {"api": "EndTxn", "instance": 0},
            {"api": "Produce"},  # of nobody we know
            {"api": "Fetch", "instance": 0, "places": [ledger]},
            {"api": "Fetch", "sender": 2, "places": [output]},
        )
    )
    reached = {frame.name for frame in FRAMES if is_reached(frame, seen)}
    assert reached == {"EndTxn", "Fetch", "LedgerFetch", "ReplicaFetch"}


def test_a_frame_that_could_not_be_decoded_may_be_the_one(tmp_path: Path) -> None:
    seen = read_sightings(
        frames(tmp_path / "wire", {"api": "Fetch", "instance": 0, "decoded": False})
    )
    assert {frame.name for frame in FRAMES if is_reached(frame, seen)} == {"Fetch", "LedgerFetch"}


def test_a_pause_outlasts_what_the_user_asks_for(tmp_path: Path) -> None:
    request = SweepRequest(
        suspect="consumer_transactional", settings=("transaction_timeout_ms=20000",)
    )
    plan = plan_cell(request, point("EndTxn-request-pause"), tmp_path)
    assert plan.schedule[0].heal_after_s > 20
    new_protocol = SweepRequest(
        suspect="consumer_transactional", settings=("group_protocol=consumer",)
    )
    assert (
        plan_cell(new_protocol, point("EndTxn-request-pause"), tmp_path).schedule[0].heal_after_s
        > 10
    )
