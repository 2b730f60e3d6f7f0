"""died: an instance of the suspect that ended unasked. What a fault ends was asked for.

Nobody sends himself a SIGKILL: one that is not ours is the kernel's, for want of memory, or a
stranger's, and says nothing of the suspect.
"""

import signal
from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from onceproof.checks.case import Case

TAIL_LENGTH_MAX = 2_000


def find(case: Case) -> DataFrame:
    if case.events is None:
        return case.observed.limit(0)
    ended = case.events.where("kind = 'exited' AND detail['asked'] = 'false'")
    return ended.where(f"detail['code'] IS DISTINCT FROM '{-signal.SIGKILL}'").select(
        "at_s",
        "subject",
        F.col("detail")["code"].alias("code"),
        F.col("detail")["log"].alias("log"),
        # The end of a log says why, not its beginning.
        F.expr(f"right(detail['tail'], {TAIL_LENGTH_MAX})").alias("tail"),
    )


def tell(facts: Mapping[str, Any]) -> str:
    code = facts["code"]
    end = f"killed by signal {code[1:]}" if str(code).startswith("-") else f"exit code {code}"
    last_line = (facts["tail"] or "").strip().rpartition("\n")[2]
    said = f', last words "{last_line}"' if last_line else ""
    when = f"{facts['at_s']:.1f} s"
    return f"{facts['subject']} ended unasked at {when}, {end}{said}: died. See {facts['log']}."
