"""The page is parsed, not searched as text: what a browser would build is what counts."""

from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import made_up_runs
import pytest
from made_up_runs import MadeUpRun

from onceproof.history.event import Event
from onceproof.history.fault_record import FaultRecord
from onceproof.history.finding import Finding, Witness
from onceproof.report.html import render_html

ATTACK = "\"'><script>alert(1)</script><img src=//evil/x onerror=alert(2)>&"
RUNS = {"held": made_up_runs.held, "broken": made_up_runs.broken, "unknown": made_up_runs.unknown}
WITHOUT_END = {"meta", "link", "img", "br", "hr", "input"}


class Page(HTMLParser):
    """Every element with its attributes, all text, and whether each opened element was closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in WITHOUT_END:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        # A table's rows may leave out nothing here: the page closes what it opens.
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def having(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def drawn(made: MadeUpRun) -> Page:
    return Page(render_html(made.result, made.run, made.events, made.logs, made.stories()))


@pytest.mark.parametrize("name", RUNS)
def test_every_element_the_page_opens_is_closed(name: str) -> None:
    assert drawn(RUNS[name]()).open == []


@pytest.mark.parametrize("name", RUNS)
def test_the_page_loads_nothing_from_anywhere(name: str) -> None:
    page = drawn(RUNS[name]())
    loading = ("link", "img", "iframe", "object", "embed", "video", "audio", "base", "image", "use")
    assert [tag for tag, _ in page.elements if tag in loading] == []
    assert [attributes for _, attributes in page.elements if "src" in attributes] == []
    links = [attributes["href"] for attributes in page.having("a")]
    assert links
    assert all(link is not None and link.startswith("./") for link in links)


@pytest.mark.parametrize(
    ("name", "verdict"), [("held", "HELD"), ("broken", "BROKEN"), ("unknown", "UNKNOWN")]
)
def test_the_verdict_stands_in_the_banner_and_in_the_title(name: str, verdict: str) -> None:
    page = drawn(RUNS[name]())
    assert page.having("header") == [{"class": f"banner {verdict}"}]
    assert page.words.count(verdict) == 1
    assert any(words.startswith(f"{verdict}: ") for words in page.words)


def test_each_fault_has_a_numbered_mark_and_a_row() -> None:
    page = drawn(made_up_runs.held())
    circles = [mark["class"] for mark in page.having("circle")]
    assert circles == ["mark applied"] * 6
    assert page.words.count("SIGKILL with a transaction of producer 4001 open on out-0") == 3


def test_a_fault_that_did_not_apply_looks_different_from_one_that_did() -> None:
    page = drawn(made_up_runs.unknown())
    assert [mark["class"] for mark in page.having("circle")] == ["mark missed"]
    assert {"class": "missed"} in page.having("tr")


def test_each_curve_of_the_samples_is_drawn() -> None:
    curves = [curve["class"] for curve in drawn(made_up_runs.held()).having("polyline")]
    assert curves == ["curve input", "curve position", "curve lag", "curve output"]


def test_a_run_without_any_history_is_still_drawn() -> None:
    made = replace(made_up_runs.held(), run={}, events=[], logs=[])
    page = drawn(replace(made, result=replace(made.result, faults=(), counts={}, versions={})))
    assert page.having("polyline") == []
    links = [attributes["href"] for attributes in page.having("a")]
    assert links == ["./report.txt", "./verdict.json"]


def test_nothing_a_run_says_becomes_markup() -> None:
    plain, attacked = drawn(made_up_runs.broken()), drawn(poisoned(made_up_runs.broken()))
    assert len(attacked.having("script")) == len(plain.having("script")) == 1
    assert attacked.having("img") == []
    assert not any("onerror" in attributes for _, attributes in attacked.elements)
    assert sum(ATTACK in words for words in attacked.words) >= 12


def test_a_log_with_a_strange_name_is_linked_inside_the_run_directory() -> None:
    made = replace(made_up_runs.held(), logs=("javascript:alert(1).log", "a b?#.log"))
    links = [attributes["href"] for attributes in drawn(made).having("a")]
    assert links[-2:] == ["./logs/javascript%3Aalert%281%29.log", "./logs/a%20b%3F%23.log"]


def poisoned(made: MadeUpRun) -> MadeUpRun:
    """The same run with the attack in every place where text of others can stand."""
    fault = FaultRecord(
        action=ATTACK, target=ATTACK, at_s=3, applied=True, evidence=ATTACK, healed_at_s=9
    )
    witness = Witness(sentence=ATTACK, facts={ATTACK: ATTACK})
    result = replace(
        made.result,
        scenario=ATTACK,
        suspect=ATTACK,
        workload=ATTACK,
        reasons=(ATTACK,),
        counts={ATTACK: 1},
        findings=(Finding(anomaly=ATTACK, count=2, witnesses=(witness,)),),
        faults=(fault,),
        versions={ATTACK: ATTACK},
        repeat=ATTACK,
    )
    kinds = ("phase", "iteration", "started", "exited", "fault", "note", "progress")
    detail: dict[str, Any] = dict.fromkeys(("pid", "code", "log", "action", "input"), ATTACK)
    events = [Event(at_s=1.0, kind=kind, subject=ATTACK, detail=detail) for kind in kinds]
    run = {ATTACK: ATTACK, "configuration": {ATTACK: [ATTACK]}}
    return MadeUpRun(result=result, run=run, events=events, logs=(ATTACK,))
