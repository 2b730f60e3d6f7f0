"""JUnit XML for a suite: a case passes when its scenario ended as expected.

got                                      JUnit
what was expected, anomalies and all     passed
UNKNOWN                                  error: it could not be told
anything else                            failure
"""

import re
from collections.abc import Iterable
from xml.etree import ElementTree

from onceproof.history.suite import SuiteCase
from onceproof.history.verdict import TrialResult, Verdict
from onceproof.report import wording

# XML 1.0 has no way at all to write most control characters, and a log may hold any of them.
UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(cases: Iterable[SuiteCase], suite: str = "onceproof") -> str:
    elements = [_case(case, suite) for case in cases]
    root = ElementTree.Element(
        "testsuite",
        name=suite,
        tests=str(len(elements)),
        failures=str(sum(element.find("failure") is not None for element in elements)),
        errors=str(sum(element.find("error") is not None for element in elements)),
        time=f"{sum(float(element.attrib['time']) for element in elements):.1f}",
    )
    root.extend(elements)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _case(case: SuiteCase, suite: str) -> ElementTree.Element:
    result = case.result
    element = ElementTree.Element(
        "testcase",
        classname=f"{suite}.{writable(result.suspect)}",
        name=writable(case.title),
        time=f"{result.duration_s:.1f}",
    )
    if not case.is_as_expected:
        tag = "error" if result.verdict == Verdict.UNKNOWN else "failure"
        got = " ".join([result.verdict.value, *result.anomalies])
        message = f"expected {case.told_expected()}, got {got}"
        ElementTree.SubElement(element, tag, message=message).text = writable(_argument(result))
    return element


def _argument(result: TrialResult) -> str:
    lines = [
        *result.reasons,
        *(
            f"{finding.anomaly}: {wording.plural(finding.count, 'case')}"
            for finding in result.findings
        ),
        *(witness.sentence for finding in result.findings for witness in finding.witnesses),
        f"repeat: {result.repeat}",
    ]
    return "\n".join(lines)


def writable(text: str) -> str:
    return UNWRITABLE.sub("\ufffd", text)
