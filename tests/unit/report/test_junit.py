from dataclasses import replace
from xml.etree import ElementTree

import made_up_runs

from onceproof.history.suite import SuiteCase
from onceproof.history.verdict import TrialResult, Verdict
from onceproof.report.junit import render_junit

HELD = made_up_runs.held().result
BROKEN = made_up_runs.broken().result
UNKNOWN = made_up_runs.unknown().result


def suite(*cases: SuiteCase) -> ElementTree.Element:
    return ElementTree.fromstring(render_junit(cases))


def case(title: str, result: TrialResult, expected: str = "HELD", *anomalies: str) -> SuiteCase:
    return SuiteCase(
        title=title, expected=Verdict(expected), expected_anomalies=anomalies, result=result
    )


def test_a_scenario_that_ended_as_expected_passes_even_when_it_is_broken() -> None:
    root = suite(case("good", HELD), case("liar", BROKEN, "BROKEN", "duplicated", "lost"))
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "time")} == {
        "tests": "2",
        "failures": "0",
        "errors": "0",
        "time": "145.9",
    }
    assert [(each.get("name"), len(each)) for each in root] == [("good", 0), ("liar", 0)]


def test_a_liar_that_was_acquitted_is_a_failure() -> None:
    ((failure,),) = suite(case("liar", HELD, "BROKEN", "lost"))
    assert (failure.tag, failure.get("message")) == ("failure", "expected BROKEN lost, got HELD")


def test_a_conviction_for_something_else_is_a_failure() -> None:
    ((failure,),) = suite(case("liar", BROKEN, "BROKEN", "lost"))
    assert failure.get("message") == "expected BROKEN lost, got BROKEN duplicated lost"


def test_an_unexpected_conviction_carries_its_witnesses_and_how_to_repeat_it() -> None:
    ((failure,),) = suite(case("good", BROKEN))
    text = failure.text or ""
    assert "duplicated: 12 cases" in text
    assert "id k9-41 of key k9" in text
    assert text.endswith(f"repeat: {BROKEN.repeat}")


def test_what_could_not_be_told_is_an_error_and_not_a_failure() -> None:
    root = suite(case("mine", UNKNOWN))
    assert (root.get("failures"), root.get("errors")) == ("0", "1")


def test_a_log_with_control_characters_still_gives_readable_xml() -> None:
    noisy = replace(UNKNOWN, reasons=("\x00\x1b[31mdied\x0b & <gone>",))
    ((error,),) = suite(case("mine", noisy))
    assert (error.text or "").startswith("\ufffd\ufffd[31mdied\ufffd & <gone>")
