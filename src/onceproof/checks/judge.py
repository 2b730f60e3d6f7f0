"""Carries checks out on a case. Each one is answered for: found, nothing found, off, or unknown.

names ──▶ applies? ──▶ find ──▶ at most WITNESSES_MAX rows by place, the exact count ──▶ Finding
             │           └─ crashed ──▶ unknown: the trial says UNKNOWN, never HELD
             └─ no ──▶ off
"""

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Row

from onceproof.checks.case import Case
from onceproof.checks.catalog import check_named
from onceproof.checks.check import Check
from onceproof.history.finding import WITNESSES_MAX, Finding, Witness

REASON_LENGTH_MAX = 500
# Most of a small check is Spark's planning, on one thread each: together they fill the cores.
CHECKS_AT_ONCE = 4


@dataclass(frozen=True, kw_only=True)
class Judgement:
    findings: tuple[Finding, ...] = ()
    unknown: Mapping[str, str] = field(default_factory=dict)  # check → why it could not tell
    off: tuple[str, ...] = ()  # checks that do not fit the case


def judge(case: Case, names: Iterable[str]) -> Judgement:
    """Carry out the named checks, in that order."""
    checks = [check_named(name) for name in names]
    fitting = [check for check in checks if check.applies(case)]
    with suppress(Exception):  # asked for once, here; a check that needs it tells why it failed
        _ = case.traffic
    with ThreadPoolExecutor(max_workers=CHECKS_AT_ONCE) as pool:
        answers = list(pool.map(lambda check: _answer(case, check), fitting))
    return Judgement(
        findings=tuple(answer for answer in answers if isinstance(answer, Finding)),
        unknown={
            check.name: answer
            for check, answer in zip(fitting, answers, strict=True)
            if isinstance(answer, str)
        },
        off=tuple(check.name for check in checks if check not in fitting),
    )


def _answer(case: Case, check: Check) -> Finding | str | None:
    """A finding, nothing, or why the check could not tell."""
    try:
        return examine(case, check)
    except Exception as crash:  # noqa: BLE001 - a check that crashed is "unknown", not the end
        return _first_line(crash)


def examine(case: Case, check: Check) -> Finding | None:
    """One check: None if there is nothing. Most often there is not, and one Spark job says so."""
    if not check.can_occur(case):
        return None
    found = check.find(case)
    rows = found.orderBy(*check.order).limit(WITNESSES_MAX).collect()
    if not rows:
        return None
    count = found.count() if len(rows) == WITNESSES_MAX else len(rows)
    witnesses = tuple(_witness(check, row) for row in rows)
    return Finding(anomaly=check.name, count=count, witnesses=witnesses)


def _witness(check: Check, row: Row) -> Witness:
    facts: dict[str, Any] = row.asDict()
    known = {name: value for name, value in facts.items() if value is not None}
    return Witness(sentence=check.tell(facts), facts=known)


def _first_line(crash: Exception) -> str:
    text = str(crash).strip().partition("\n")[0]
    return f"{type(crash).__name__}: {text}"[:REASON_LENGTH_MAX]
