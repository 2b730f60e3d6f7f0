"""The lane diagram, parsed: what stands where."""

import xml.etree.ElementTree as ET

from onceproof.report.story.lanes import LANES_LEFT, WIDTH, draw_story
from onceproof.report.story.steps import Step, Story


def drawn(*steps: Step) -> ET.Element:
    return ET.fromstring(draw_story(Story(steps=steps)))


def rows(svg: ET.Element) -> list[ET.Element]:
    return svg.findall("g")


def x_of(svg: ET.Element, name: str) -> float:
    (text,) = [each for each in svg.findall("text") if each.findtext("title") == name]
    return float(text.attrib["x"])


def step(what: str = "asks", lane: str = "instance 0", to: str = "broker 1") -> Step:
    return Step(at_s=1.5, lane=lane, to=to, what=what)


def test_clients_stand_left_of_brokers_and_brokers_left_of_the_faults() -> None:
    names = ["instance 2", "instance 10", "client app", "broker 1", "broker 9", "log", "faults"]
    svg = drawn(*(step(lane=name, to="") for name in reversed(names)))
    places = [x_of(svg, name) for name in names]
    assert places == sorted(places)
    assert len(set(places)) == len(names)


def test_an_arrow_leads_from_lane_to_lane_and_its_head_to_the_receiver() -> None:
    svg = drawn(step(), Step(at_s=2.0, lane="broker 1", to="instance 0", what="brings"))
    ask, bring = rows(svg)
    for row, begin, end in ((ask, "instance 0", "broker 1"), (bring, "broker 1", "instance 0")):
        line = row.find("line")
        assert line is not None
        assert float(line.attrib["x1"]) == x_of(svg, begin)
        assert float(line.attrib["x2"]) == x_of(svg, end)
        (head,) = row.findall("polygon")
        assert float(head.attrib["points"].split(",")[0]) == x_of(svg, end)


def test_a_request_with_its_answer_has_two_heads_and_a_marker_a_dot() -> None:
    both, marker = rows(
        drawn(
            Step(at_s=1.0, lane="instance 0", to="broker 1", what="asks", is_answered=True),
            Step(lane="broker 1", what="marker"),
        )
    )
    assert len(both.findall("polygon")) == 2
    assert (len(marker.findall("circle")), marker.findall("line")) == (1, [])
    assert marker.findtext("text") in (None, "")  # no moment is made up


def test_faults_and_doubts_look_different() -> None:
    fault, healed, doubt, plain = rows(
        drawn(
            Step(at_s=1.0, lane="faults", to="broker 1", what="kill", is_fault=True),
            Step(at_s=1.0, lane="faults", to="broker 1", what="healed"),
            Step(at_s=1.0, lane="instance 0", to="broker 1", what="may", is_sure=False),
            step(),
        )
    )
    kinds = [row.attrib["class"] for row in (fault, healed, doubt, plain)]
    assert kinds == ["step fault", "step healed", "step unsure", "step"]


def test_long_words_take_more_lines_and_no_row_runs_into_the_next() -> None:
    words = "Produce of 41 records to a-topic-with-a-long-name-0 " * 3
    svg = drawn(step(words), step("x" * 900), step())
    tops = [float(row.find("rect").attrib["y"]) for row in rows(svg)]  # type: ignore[union-attr]
    for row, next_top in zip(rows(svg), tops[1:], strict=False):
        assert all(float(text.attrib["y"]) < next_top for text in row.findall("text"))
    lines = [len(row.findall("text[@class='what']")) for row in rows(svg)]
    assert lines == [2, 3, 1]
    assert rows(svg)[1].findall("text[@class='what']")[-1].text.endswith("…")  # type: ignore[union-attr]
    assert rows(svg)[1].findtext("title") == "x" * 900


def test_many_lanes_leave_room_for_the_words() -> None:
    svg = drawn(*(step(lane=f"client {'long' * 20} {rank}", to="") for rank in range(12)))
    left = {float(text.attrib["x"]) for text in svg.findall("g/text[@class='what']")}
    assert len(left) == 1
    assert LANES_LEFT < left.pop() < WIDTH * 0.6
    names = [text.text or "" for text in svg.findall("text")]
    assert all(name.endswith("…") for name in names)


def test_nothing_said_becomes_markup() -> None:
    attack = "\"'><script>alert(1)</script>&"
    hostile = Step(at_s=1.0, lane=attack, to="broker 1", what=attack, detail=attack)
    svg = drawn(hostile)
    assert {element.tag for element in svg.iter()} == {
        *("svg", "g", "title", "rect", "line", "polygon", "text")
    }


def test_without_steps_there_is_no_picture() -> None:
    assert draw_story(Story(steps=(), notes=("too long",))) == ""
