"""A matrix: what is expected of a version, which are bad, and how it is told."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from onceproof.errors import UsageError
from onceproof.history.matrix import Matrix, MatrixRow, MatrixTrial, exit_code, save
from onceproof.history.verdict import Verdict
from onceproof.report.matrix import (
    render_matrix_html,
    render_matrix_markdown,
    render_matrix_text,
    summary,
)
from onceproof.trial.many.axis import (
    MatrixRequest,
    expected_of,
    expected_on,
    plan_axes,
    title,
)
from onceproof.trial.many.suite_plan import CONTROLS, names_to_run, suite_plans
from onceproof.trial.planning.plan import make_plan
from onceproof.trial.planning.request import Request
from onceproof.trial.planning.scenario import load_scenario, make_scenario, scenario_names
from onceproof.versions import by_version

RACE = "kafka_17507_marker_race"
DELAYED = "kafka_17754_delayed_end_txn"
H, B, U = Verdict.HELD, Verdict.BROKEN, Verdict.UNKNOWN
VERSIONS = ("3.8.0", "3.9.0", "3.9.1", "4.3.1")


def matrix(*found: Verdict | None, repeats: int = 1) -> Matrix:
    """One trial on each of the versions, or none."""
    rows = tuple(
        MatrixRow(version=version, expected=B if version < "3.9.1" else H) for version in VERSIONS
    )
    made = Matrix(
        scenario=RACE, axis="kafka", ticket="KAFKA-17507", suspect="s", seed=7,
        repeats=repeats, rows=rows,
    )  # fmt: skip
    for version, verdict in zip(VERSIONS, found, strict=False):
        if verdict is not None:
            made = made.with_trial(version, trial(verdict))
    return made


def trial(verdict: Verdict) -> MatrixTrial:
    return MatrixTrial(
        verdict=verdict,
        anomalies={"lost": 20} if verdict is B else {},
        reason={B: "lost: 20", U: "it rained", H: ""}[verdict],
        duration_s=30.0,
        run="versions/x/y" if verdict is not U else "",
        repeat="onceproof run …",
    )


def test_the_first_bad_and_the_first_good_version() -> None:
    made = matrix(B, B, H, H)
    assert (made.first_bad, made.first_good, made.exit_code) == ("3.8.0", "3.9.1", 0)


def test_a_version_that_holds_between_two_bad_ones_is_not_the_first_good_one() -> None:
    assert matrix(B, H, B, H).first_good == "4.3.1"
    assert matrix(B, B, B, B).first_good is None
    assert matrix(H, H, H, H).first_bad is None


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ((U, B, H, H), "first bad not known, first good 3.9.1"),
        ((U, H, H, H), "first bad not known, first good 3.9.0"),
        ((H, B, H, H), "first bad 3.9.0, first good 3.9.1"),
        ((H, H, H, H), "none is bad, first good 3.8.0"),
        ((None, B, H, H), "first bad not known, first good 3.9.1"),
    ],
)
def test_what_is_not_known_of_one_version_is_said_of_none_after_it(
    found: tuple[Verdict | None, ...], told: str
) -> None:
    assert summary(matrix(*found)) == told


def test_a_version_that_broke_otherwise_is_not_the_first_bad_one() -> None:
    made = matrix(B, B, H, H)
    rows = (replace(made.rows[0], expected_anomalies=("stuck",)), *made.rows[1:])
    assert replace(made, rows=rows).first_bad is None


def test_where_nothing_is_expected_all_trials_must_have_told_something() -> None:
    """How exposed one is: two of five, and three that nobody knows of, are not two of five."""
    rows = (MatrixRow(version="3.8.0", expected=None, trials=(trial(B), trial(U))),)
    made = replace(matrix(), rows=rows, repeats=2)
    assert made.exit_code == 2
    assert "3.8.0 **BROKEN** 1 of 2, 1 unknown (lost 20)" in render_matrix_markdown([made])
    assert made.to_json()["rows"][0]["unknown"] == 1
    told = replace(made, rows=(replace(rows[0], trials=(trial(B), trial(H))),))
    assert told.exit_code == 0


@pytest.mark.parametrize(
    ("found", "code"),
    [
        ((B, B, H, H), 0),
        ((B, H, H, H), 1),
        ((B, B, B, U), 1),  # what is not as expected has the last word
        ((B, B, H, U), 2),
        ((B, B, H), 2),  # not finished
    ],
)
def test_exit_code(found: tuple[Verdict, ...], code: int) -> None:
    assert matrix(*found).exit_code == code
    assert exit_code([matrix(B, B, H, H), matrix(*found)]) == code


def test_a_row_is_broken_if_it_ever_broke_and_held_only_if_it_always_did() -> None:
    row = MatrixRow(version="3.8.0", expected=B, trials=(trial(H), trial(U), trial(B)))
    assert (row.verdict, row.broken, row.anomalies) == (B, 1, {"lost": 20})
    assert MatrixRow(version="x", expected=H, trials=(trial(H), trial(U))).verdict is U
    assert MatrixRow(version="x", expected=None, trials=(trial(B),)).is_as_expected


@pytest.mark.parametrize(
    ("expected", "found", "is_as_expected"),
    [
        (B, (B,) * 18 + (H, H), True),
        (B, (B,) * 18 + (U, H), True),
        (B, (B,) * 17 + (H,) * 3, False),
        (B, (B,) * 17 + (U,) * 3, False),  # one that could not be told did not come
        (B, (B,) + (H,) * 19, False),
        (B, (B, H), False),
        (H, (H,) * 19 + (B,), False),
        (H, (H,) * 19 + (U,), False),
        (H, (H,) * 20, True),
    ],
)
def test_a_bug_must_come_nearly_every_time_and_a_good_version_must_always_hold(
    expected: Verdict, found: tuple[Verdict, ...], is_as_expected: bool
) -> None:
    row = MatrixRow(version="3.8.0", expected=expected, trials=tuple(map(trial, found)))
    assert row.is_as_expected is is_as_expected


def test_a_bug_that_came_once_in_twenty_trials_is_not_as_expected() -> None:
    made = matrix(B, B, H, H)
    rare = replace(made.rows[0], trials=(trial(B), *(trial(H) for _ in range(19))))
    text = render_matrix_text([replace(made, rows=(rare, *made.rows[1:]))])
    assert "first bad 3.8.0, first good 3.9.1: not as expected" in text


def test_what_breaks_otherwise_than_expected_is_not_as_expected() -> None:
    lost = {"version": "3.8.0", "expected": B, "trials": (trial(B),)}
    assert MatrixRow(**lost, expected_anomalies=("lost",)).is_as_expected
    assert not MatrixRow(**lost, expected_anomalies=("lost", "duplicated")).is_as_expected
    assert not MatrixRow(**lost, expected_anomalies=("stale",)).is_as_expected
    held = MatrixRow(version="x", expected=H, expected_anomalies=("lost",), trials=(trial(H),))
    assert held.is_as_expected


def test_text_tells_each_version_and_what_is_not_as_expected() -> None:
    text = render_matrix_text([matrix(B, H, U)])
    lines = [line.split() for line in text.splitlines()]
    assert lines[0] == ["KAFKA-17507", f"{RACE},", "s,", "seed", "7"]
    assert ["kafka", "verdict", "expected", "broken", "time"] in lines
    assert ["3.8.0", "BROKEN", "lost", "20", "BROKEN", "1", "of", "1", "30.0", "s"] in lines
    assert ["3.9.0", "HELD", "BROKEN", "0", "of", "1", "30.0", "s"] in lines
    assert ["4.3.1", "…", "HELD", "…", "…"] in lines
    assert "3.9.1: UNKNOWN: it rained" in text
    assert "first bad 3.8.0, none is good: not as expected" in text


def test_where_nothing_was_expected_nothing_is_as_expected() -> None:
    made = matrix(B, B, H, H)
    by_luck = replace(made, rows=tuple(replace(row, expected=None) for row in made.rows))
    for text in (render_matrix_text([by_luck]), render_matrix_html([by_luck])):
        assert "first bad 3.8.0, first good 3.9.1: nothing was expected" in text


def test_markdown_has_a_line_a_scenario() -> None:
    *_, line = render_matrix_markdown([matrix(B, H, U)]).splitlines()
    assert line == (
        f"| KAFKA-17507 | `{RACE}` | kafka | 3.8.0 **BROKEN** 1 of 1 (lost 20) · 3.9.0 HELD 1 of 1"
        " · 3.9.1 UNKNOWN 1 of 1 · 4.3.1 … |"
    )


def test_html_leads_to_the_runs_and_escapes() -> None:
    made = matrix(B).with_trial("3.9.0", MatrixTrial(verdict=U, reason="<b>"))
    page = render_matrix_html([made])
    assert 'href="versions/x/y/report.html"' in page
    assert "<b>" not in page


def test_json_has_what_a_script_asks_for(tmp_path: Path) -> None:
    save([matrix(B, B, H, H)], tmp_path / "matrix.json")
    (told,) = json.loads((tmp_path / "matrix.json").read_text())
    assert (told["first_bad"], told["first_good"], told["exit_code"]) == ("3.8.0", "3.9.1", 0)
    assert [(row["version"], row["verdict"], row["broken"], row["of"]) for row in told["rows"]] == [
        ("3.8.0", "BROKEN", 1, 1),
        ("3.9.0", "BROKEN", 1, 1),
        ("3.9.1", "HELD", 0, 1),
        ("4.3.1", "HELD", 0, 1),
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["matrix.json"]


def test_versions_are_in_their_own_order() -> None:
    assert sorted(["4.0.0", "3.10.1", "3.9.2"], key=by_version) == ["3.9.2", "3.10.1", "4.0.0"]


@pytest.mark.parametrize(
    ("version", "verdict"),
    [("3.8.0", B), ("3.8.1", B), ("3.9.1", H), ("4.1.2", H), ("3.3.1", B), ("9.0.0", H)],
)
def test_what_is_expected_of_a_version(version: str, verdict: Verdict | None) -> None:
    assert expected_on(load_scenario(RACE), version) == verdict


def test_between_a_bad_and_a_good_version_nothing_is_expected() -> None:
    known = {"axis": "kafka", "versions": {"3.8.0": "BROKEN", "4.3.1": "HELD"}}
    scenario = make_scenario({**load_scenario("tc01_normal").model_dump(), **known})
    assert [expected_on(scenario, version) for version in ("3.8.0", "3.9.1", "4.3.1")] == [
        B,
        None,
        H,
    ]


@pytest.mark.parametrize(
    ("scenario", "verdicts"),
    [
        ("kafka_14624_stale_cache", {"3.4.0": B, "3.4.1": H, "4.4.0": H}),
        ("kafka_17455_quota", {"3.7.2": B, "3.8.1": B, "3.9.0": B, "3.9.1": H, "4.0.1": H}),
        ("kafka_20685_stale_checkpoint", {"3.7.2": H, "4.0.1": B, "4.2.1": B, "4.2.2": H}),
        (RACE, {"3.5.0": B, "4.0.1": H}),
        (DELAYED, {"3.9.1": B, "4.0.1": H}),
        ("streams_skip_after_corrupted", {"3.5.0": H, "3.8.0": B, "4.4.0": None}),
        (f"{RACE}:control", {"3.9.0": H, "3.5.0": None}),
    ],
)
def test_what_the_ticket_says_of_other_versions(
    scenario: str, verdicts: dict[str, Verdict | None]
) -> None:
    told = load_scenario(scenario)
    assert {version: expected_on(told, version) for version in verdicts} == verdicts


def test_a_run_is_expected_to_end_as_its_version_does() -> None:
    assert expected_of(make_plan(Request(scenario=RACE))) is B
    assert expected_of(make_plan(Request(scenario=RACE, kafka="3.9.1"))) is H
    assert expected_of(make_plan(Request(scenario=RACE, kafka="3.3.1"))) is B
    assert expected_of(make_plan(Request(scenario="tc01_normal", kafka="3.3.1"))) is H
    assert expected_of(make_plan(Request(scenario=DELAYED))) is B  # librdkafka: no clients to set
    java = Request(scenario=DELAYED, suspect="consumer_java", settings=("clients=4.3.1",))
    assert expected_of(make_plan(java)) is H


def test_a_suite_takes_each_scenario_to_all_its_versions(tmp_path: Path) -> None:
    request = Request(runs_dir=tmp_path)
    names = ["tc01_normal", RACE, DELAYED]
    assert [title(plan) for plan in suite_plans(names, request, quick=False)] == [
        "tc01_normal",
        "tc01_normal (streams_exactly_once)",
        *(f"{RACE} (kafka {version})" for version in VERSIONS),
        f"{RACE}-control (kafka 3.8.0)",
        DELAYED,
        f"{DELAYED} (clients 3.8.0)",
        f"{DELAYED} (clients 4.3.1)",
        f"{DELAYED} (spark_exactly_once)",
        f"{DELAYED}-lost_write",
        f"{DELAYED}-lost_write (clients 3.8.0)",
        f"{DELAYED}-lost_write (clients 4.3.1)",
        f"{DELAYED}-lost_write (spark_exactly_once)",
        f"{DELAYED}-control",
    ]
    quick = suite_plans(names, request, quick=True)
    assert [(title(plan), expected_of(plan)) for plan in quick] == [
        ("tc01_normal", H),
        (f"{RACE} (kafka 3.8.0)", B),
        (f"{RACE} (kafka 3.9.1)", H),
        (DELAYED, B),
        (f"{DELAYED} (clients 4.3.1)", H),
    ]
    assert {plan.runs_dir for plan in quick} == {tmp_path}
    on_one = suite_plans(names[:2], Request(kafka="3.9.1"), quick=False)
    assert [title(plan) for plan in on_one] == [
        "tc01_normal",
        "tc01_normal (streams_exactly_once)",
        f"{RACE} (kafka 3.9.1)",
        f"{RACE}-control (kafka 3.9.1)",
    ]


def test_a_quick_suite_has_what_goes_along_versions_and_a_control_of_each_side(
    tmp_path: Path,
) -> None:
    assert names_to_run([], quick=False) == scenario_names()
    assert names_to_run(["chaos_loop"], quick=True) == ["chaos_loop"]
    quick = names_to_run([], quick=True)
    along = {name for name in scenario_names() if load_scenario(name).axis is not None}
    assert set(quick) == {*along, *CONTROLS}
    plans = suite_plans(quick, Request(runs_dir=tmp_path), quick=True)
    assert len(plans) == 2 * len(along) + len(CONTROLS)
    assert {expected_of(plan) for plan in plans if plan.scenario.name in CONTROLS} == {B, H}


@pytest.mark.parametrize("name", scenario_names())
def test_a_scenario_expects_of_its_own_version_what_it_expects(name: str) -> None:
    scenario = load_scenario(name)
    assert expected_of(make_plan(Request(scenario=name))) == Verdict(scenario.expect)
    assert bool(scenario.ticket) == (scenario.axis is not None)


def test_each_version_has_a_plan_and_the_oldest_comes_first(tmp_path: Path) -> None:
    (axis,) = plan_axes(MatrixRequest(scenario=RACE, versions="4.3.1, 3.8.0,3.8.0"), tmp_path)
    assert [at.plan.scenario.kafka for at in axis.versions] == ["3.8.0", "4.3.1"]
    assert axis.versions[0].plan.repeat == f"onceproof run {RACE} --seed 1 --kafka 3.8.0"
    (axis,) = plan_axes(MatrixRequest(scenario=DELAYED), tmp_path)
    assert [at.plan.settings["clients"] for at in axis.versions] == ["3.8.0", "4.3.1"]
    assert {at.plan.suspect.name for at in axis.versions} == {"consumer_java"}


def test_another_suspect_goes_along_the_same_versions(tmp_path: Path) -> None:
    asked = MatrixRequest(scenario="kafka_20685_stale_checkpoint", suspect="streams_java")
    (axis,) = plan_axes(asked, tmp_path)
    on_trial = [(at.plan.suspect.name, at.plan.settings["streams"]) for at in axis.versions]
    assert on_trial == [("streams_java", "4.1.2"), ("streams_java", "4.3.1")]


def test_all_are_the_scenarios_that_have_an_axis(tmp_path: Path) -> None:
    axes = plan_axes(MatrixRequest(scenario="all"), tmp_path)
    assert {axis.scenario.name for axis in axes} >= {RACE, DELAYED}
    assert "tc01_normal" not in {axis.scenario.name for axis in axes}


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (MatrixRequest(scenario="nope"), "unknown scenario 'nope'"),
        (MatrixRequest(scenario="tc01_normal"), "names no axis to go along; those that do: kafka_"),
        (MatrixRequest(scenario=RACE, versions="3.8.0,9.9"), "unknown Kafka version '9.9'; known"),
        (MatrixRequest(scenario=DELAYED, versions="x"), "unknown version of clients 'x'; known"),
        (MatrixRequest(scenario=RACE, versions="3.8.0,"), "--versions takes versions like"),
        (MatrixRequest(scenario=RACE, repeats=0), "--repeat takes a number from 1 to 100; got 0"),
        (MatrixRequest(scenario="all", versions="3.8.0"), "--versions goes with one scenario"),
        (MatrixRequest(scenario="all", suspect="streams_java"), "--suspect goes with one scenario"),
        (MatrixRequest(scenario=RACE, suspect="nope"), "unknown suspect 'nope'; known"),
    ],
)
def test_bad_input_is_told(request_: MatrixRequest, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        plan_axes(request_, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_axis_without_versions_is_refused() -> None:
    data = {**load_scenario("tc01_normal").model_dump(), "axis": "kafka"}
    with pytest.raises(UsageError, match="`axis` and `versions` go together"):
        make_scenario(data)


def test_how_often_a_bug_came_counts_that_bug_alone() -> None:
    died = replace(trial(B), anomalies={"died": 1})
    row = MatrixRow(
        version="3.8.0", expected=None, expected_anomalies=("lost",), trials=(trial(B), died)
    )
    assert (row.broken, row.broken_otherwise, row.verdict) == (1, 1, B)
    rare = replace(row, expected=B, trials=(trial(B), *(died,) * 19))
    assert not rare.is_as_expected
    text = render_matrix_text([replace(matrix(B), rows=(row,))])
    assert "1 of 2, 1 otherwise" in text
