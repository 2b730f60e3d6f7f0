"""Diagnoses for a terminal: what, where, what shows it, and what to do."""

import textwrap
from collections.abc import Sequence

from onceproof.doctor.diagnosis import Diagnosis

WIDTH = 100
INDENT = "    "


def draw(found: Sequence[Diagnosis], untold: Sequence[str], scope: str) -> str:
    lines = [line for each in found for line in _lines(each)]
    lines += [line for each in untold for line in _wrapped(f"could not be told: {each}", "")]
    return "\n".join([*lines, f"{_counted(len(found))}; {scope}"])


def _lines(each: Diagnosis) -> list[str]:
    return [
        f"{each.kind}: {each.subject}",
        *_wrapped(each.seen, INDENT),
        *_wrapped(f"→ {each.cure}", INDENT),
        "",
    ]


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _counted(count: int) -> str:
    return "nothing found" if count == 0 else f"{count} finding{'s' if count > 1 else ''}"
