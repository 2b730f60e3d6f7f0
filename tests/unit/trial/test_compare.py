"""A comparison: which fault meets which mode, and what a table says of what was measured."""

from dataclasses import replace
from pathlib import Path

import pytest

from onceproof.cli.main import main
from onceproof.errors import UsageError
from onceproof.history.comparison import (
    SPEED,
    CellTrial,
    Comparison,
    Mode,
    ModeCell,
    records_per_s,
)
from onceproof.history.event import Event
from onceproof.history.verdict import Verdict
from onceproof.report.comparison import render_comparison_html, render_comparison_text, word
from onceproof.suspects.catalog import SUSPECTS
from onceproof.trial.many.compare_plan import (
    FAULTS,
    MODES,
    CompareRequest,
    chosen_faults,
    chosen_modes,
    plan_mode,
)

SQLITE, MANUAL = "consumer_sqlite", "consumer_manual_commit"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fault", FAULTS)
def test_every_cell_is_a_plan_or_says_why_it_is_none(mode: str, fault: str, tmp_path: Path) -> None:
    plan = plan_mode(CompareRequest(), mode, fault, tmp_path)
    if plan is None:
        assert fault in ("late_commit", "torn", "rebalance")
        assert FAULTS[fault].why_not
    else:
        assert plan.suspect.name == mode
        assert plan.repeat.startswith(f"onceproof compare --modes {mode} --faults {fault}")


def test_a_mode_is_hit_where_its_output_and_its_position_are_apart(tmp_path: Path) -> None:
    aims = {}
    for mode in (MANUAL, "consumer_commit_first", "consumer_own_offsets"):
        plan = plan_mode(CompareRequest(), mode, "torn", tmp_path)
        assert plan is not None
        aims[mode] = str(plan.schedule[0].aim)
    assert aims == {
        MANUAL: "OffsetCommit request",
        "consumer_commit_first": "OffsetCommit response",
        "consumer_own_offsets": "EndTxn request",
    }
    assert plan_mode(CompareRequest(), SQLITE, "torn", tmp_path) is None


def test_a_mode_with_a_server_is_hit_where_the_server_shows_it(tmp_path: Path) -> None:
    def aim(mode: str, fault: str) -> str:
        plan = plan_mode(CompareRequest(), mode, fault, tmp_path)
        assert plan is not None
        return str(plan.schedule[0].aim)

    assert aim("consumer_postgres", "torn") == "before_position"
    assert aim("consumer_postgres", "mid_batch") == "mid_output"
    assert aim(SQLITE, "mid_batch") == "at_once"


def test_every_mode_says_what_it_claims() -> None:
    assert [name for name in MODES if SUSPECTS[name].guarantee is None] == []
    claims = {mode.name: (mode.claims, mode.allows) for mode in chosen_modes(CompareRequest())}
    assert claims["consumer_commit_first"] == ("at most once", ("lost", "reordered"))
    assert claims["consumer_auto_commit"] == ("none", ("duplicated", "lost", "reordered"))
    assert claims[SQLITE] == ("exactly once", ())


def test_names_that_are_not_known_are_told() -> None:
    with pytest.raises(UsageError, match="unknown mode 'spark'; known: consumer_auto_commit"):
        chosen_modes(CompareRequest(modes="spark"))
    with pytest.raises(UsageError, match="unknown fault 'flood'; known: broker, late_commit"):
        chosen_faults(CompareRequest(faults="none,flood"))
    with pytest.raises(UsageError, match="--faults names none"):
        chosen_faults(CompareRequest(faults=","))


def trial(verdict: Verdict, recovery: float | None = None, **anomalies: int) -> CellTrial:
    return CellTrial(verdict=verdict, anomalies=anomalies, recovery_s=recovery, reason="why")


HELD = trial(Verdict.HELD)
AT_LEAST_ONCE = Mode(name=MANUAL, claims="at least once", allows=("duplicated",))
EXACTLY_ONCE = Mode(name=SQLITE, claims="exactly once")
TABLE = Comparison(
    seed=1,
    modes=(AT_LEAST_ONCE, EXACTLY_ONCE),
    faults=("none", "torn"),
    cells=(
        ModeCell(mode=MANUAL, fault="none", trials=(HELD,)),
        ModeCell(
            mode=MANUAL, fault="torn", trials=(trial(Verdict.BROKEN, 3.14, duplicated=20), HELD)
        ),
        ModeCell(mode=SQLITE, fault="none", trials=(HELD,)),
        ModeCell(mode=SQLITE, fault="torn", reason="one transaction"),
    ),
)


def test_a_table_says_what_was_claimed_and_what_was_measured() -> None:
    assert render_comparison_text(TABLE) == (
        "mode                    claims         measured       none  torn\n"
        "consumer_manual_commit  at least once  at least once  held"
        "  duplicated 20 (1 of 2), 3.1 s\n"
        "consumer_sqlite         exactly once   …              held  ·\n"
        "\n"
        "each mode keeps what it claims (seed 1)\n"
    )
    page = render_comparison_html(TABLE)
    assert 'class="allowed"' in page  # it says "at least once"
    assert 'class="broken"' not in page
    assert "duplicated 20 (1 of 2), 3.1\N{NO-BREAK SPACE}s" in page


def test_who_does_not_keep_its_claim_is_told_by_the_exit_code() -> None:
    assert TABLE.exit_code == 0
    lost = replace(TABLE.cells[2], trials=(trial(Verdict.BROKEN, lost=1),))
    cells = (*TABLE.cells[:2], lost, TABLE.cells[3])
    broken = replace(TABLE, cells=cells)
    assert (broken.exit_code, broken.measured(SQLITE)) == (1, "at most once")
    assert 'class="broken"' in render_comparison_html(broken)
    planted = replace(broken, modes=(AT_LEAST_ONCE, replace(EXACTLY_ONCE, is_liar=True)))
    assert planted.exit_code == 0


def test_the_order_is_told_apart_from_how_often() -> None:
    behind = ModeCell(mode=MANUAL, fault="pause", trials=(trial(Verdict.BROKEN, reordered=8),))
    assert Comparison(seed=1, cells=(behind,)).measured(MANUAL) == "exactly once, reordered"
    twice = ModeCell(mode=MANUAL, fault="torn", trials=(trial(Verdict.BROKEN, duplicated=1),))
    assert Comparison(seed=1, cells=(behind, twice)).measured(MANUAL) == "at least once, reordered"
    allowed = {name: SUSPECTS[name].guarantee for name in (MANUAL, SQLITE)}
    kept = {name: "reordered" in each.allows for name, each in allowed.items() if each is not None}
    assert kept == {MANUAL: True, SQLITE: False}


def test_what_could_not_be_told_is_no_guarantee() -> None:
    unknown = ModeCell(mode=SQLITE, fault="none", trials=(trial(Verdict.UNKNOWN),))
    told = replace(TABLE, cells=(*TABLE.cells[:2], unknown, TABLE.cells[3]))
    assert (told.exit_code, told.measured(SQLITE), word(unknown)) == (2, "", "unknown")
    held = ModeCell(mode=SQLITE, fault="torn", trials=(HELD,))
    assert Comparison(seed=1, cells=(held, TABLE.cells[2])).measured(SQLITE) == "exactly once"
    assert Comparison(seed=1, cells=(held, unknown)).measured(SQLITE) == ""
    assert replace(TABLE, cells=TABLE.cells[:3]).exit_code == 2
    assert [fault for _, fault in replace(TABLE, cells=TABLE.cells[:3]).left] == ["torn"]


def test_where_no_fault_was_tried_nothing_is_measured() -> None:
    assert TABLE.measured(SQLITE) == ""
    speed = ModeCell(mode=SQLITE, fault=SPEED, trials=(HELD,))
    assert Comparison(seed=1, cells=(speed,)).measured(SQLITE) == ""
    untried = Comparison(seed=1, modes=(EXACTLY_ONCE,), faults=("torn",), cells=(TABLE.cells[3],))
    assert (untried.measured(SQLITE), untried.exit_code) == ("", 2)


def test_a_comparison_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    TABLE.save(tmp_path / "compare.json")
    assert Comparison.load(tmp_path / "compare.json") == TABLE


def test_what_a_comparison_cannot_go_on_with_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "--resume", str(tmp_path)]) == 254
    assert "holds no comparison" in capsys.readouterr().err
    (tmp_path / "compare.json").write_text("{}")
    assert main(["compare", "--resume", str(tmp_path)]) == 254
    assert "is no comparison of this version" in capsys.readouterr().err


def _at(at_s: float, output: int, position: int) -> Event:
    detail = {"output": str(output), "position": str(position)}
    return Event(at_s=at_s, kind="progress", subject="", detail=detail)


def test_a_speed_is_that_of_the_middle_of_the_input() -> None:
    starts_and_ends_slowly = [
        (0, 0),
        (10, 100),
        (11, 300),
        (12, 500),
        (13, 700),
        (14, 900),
        (60, 1000),
    ]
    written = [_at(at_s, count, 0) for at_s, count in starts_and_ends_slowly]
    assert records_per_s(written) == 200.0
    into_a_table = [_at(at_s, 0, count) for at_s, count in starts_and_ends_slowly]
    assert records_per_s(into_a_table) == 200.0
    end_s, end = starts_and_ends_slowly[-1]
    poured_out_for_the_judge = [_at(end_s + each, end, end) for each in (1, 2)]
    assert records_per_s([*into_a_table, *poured_out_for_the_judge]) == 200.0
    assert records_per_s([]) is None
    assert records_per_s([_at(0, 0, 0), _at(1, 500, 0), _at(2, 1000, 0)]) is None
    assert records_per_s([_at(0, 0, 0), *(_at(each, 500, 0) for each in range(1, 5))]) is None


def test_speeds_are_told_by_that_of_auto_commit() -> None:
    def speed(mode: str, rate: float | None) -> ModeCell:
        timed = replace(HELD, records_per_s=rate)
        return ModeCell(mode=mode, fault=SPEED, trials=(timed,))

    auto = Mode(name="consumer_auto_commit", claims="none")
    table = Comparison(
        seed=1,
        modes=(auto, AT_LEAST_ONCE, EXACTLY_ONCE),
        faults=(SPEED,),
        cells=(speed(auto.name, 20_000.4), speed(MANUAL, 10_000), speed(SQLITE, None)),
    )
    told = render_comparison_text(table)
    assert "20,000/s 1.00×" in told
    assert "10,000/s 0.50×" in told
    assert "too fast" in told
    assert "10,000/s 0.50×" in render_comparison_html(table)
    alone = replace(table, modes=(AT_LEAST_ONCE,), cells=table.cells[1:2])
    assert "10,000/s\n" in render_comparison_text(alone)


def test_two_members_have_twice_the_work_so_that_both_always_have_some(tmp_path: Path) -> None:
    alone, shared = (
        plan_mode(CompareRequest(), MANUAL, fault, tmp_path) for fault in ("torn", "pause")
    )
    assert alone is not None
    assert shared is not None
    assert int(shared.settings["work_ms"]) == 2 * int(alone.settings["work_ms"])


def test_a_setting_goes_to_the_modes_that_have_it(tmp_path: Path) -> None:
    by_batch = CompareRequest(modes=f"{MANUAL},consumer_cassandra", settings=("write=lwt",))
    assert len(chosen_modes(by_batch)) == 2
    cassandra = plan_mode(by_batch, "consumer_cassandra", "none", tmp_path)
    assert cassandra is not None
    assert cassandra.settings["write"] == "lwt"
    assert cassandra.repeat.endswith("--set write=lwt")
    manual = plan_mode(by_batch, MANUAL, "none", tmp_path)
    assert manual is not None
    assert "write" not in manual.settings
    with pytest.raises(UsageError, match="group_protocol"):
        chosen_modes(CompareRequest(settings=("group_protokol=consumer",)))
