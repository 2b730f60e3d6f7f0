"""Where the time of a micro-batch goes, in our sink and in Spark's own, in turn in one run.

    a batch's milliseconds of both cores ──▶ Spark's tasks, collectors, compilers, brokers, …

Rates alone say who is ahead, not why. Variants take turns, and each turn the other way round, so
that what a machine does in the long run hits all of them alike.

    python bench/sink_processor_time.py --job fold-100k --input 1000:1600000     4 minutes
"""

import argparse
import os
import re
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from sink_stage import BatchTime, Stage, say, seconds_of, sink_stage, table
from sink_throughput import FILLINGS, JOBS, KEYS, VARIANTS, Input, Variant, input_of, run

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
# What a thread of a JVM does, by its name.
WORK = {"collectors": re.compile("^(GC|G1)"), "compilers": re.compile("^C[12] Comp")}
Spent = Counter[str]  # milliseconds by what they went into


def main() -> None:
    asked = arguments()
    fed: Input = asked.input
    theirs, ours = VARIANTS[:2] if asked.as_it_comes else VARIANTS[-2:]
    with sink_stage("local[2]") as stage:
        stage.feed(
            fed.topic,
            records=fed.records,
            record_bytes=fed.record_bytes,
            keys=KEYS,
            filling=FILLINGS["repeats"].read,
        )
        for variant, small_batch_bytes in ((theirs, 0), (ours, 0), (ours, asked.small_batch_bytes)):
            told = {**vars(asked), "small_batch_bytes": small_batch_bytes}
            turn(stage, variant, argparse.Namespace(**{**told, "batches": asked.warm_batches}))
            say(f"warmed up by {variant.name}")
        times: dict[str, list[BatchTime]] = defaultdict(list)
        spent: dict[str, list[Spent]] = defaultdict(list)
        for number in range(asked.rounds + 1):
            for variant in (theirs, ours) if number % 2 else (ours, theirs):
                batches, went = turn(stage, variant, asked)
                say(f"round {number}, {variant.name}: {seconds_of(batches)} s")
                if number > 0:
                    times[variant.name] += batches[1:]
                    spent[variant.name].append(went)
    report(asked, (theirs.name, ours.name), times, spent)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--job", choices=JOBS, default="fold-100k")
    parser.add_argument("--input", type=input_of, default="1000:1600000", metavar="BYTES:RECORDS")
    parser.add_argument("--rounds", type=int, default=4, help="counted rounds, after a warm one")
    parser.add_argument("--batches", type=int, default=8, help="micro-batches of each turn")
    parser.add_argument(
        "--warm-batches", type=int, default=60, help="small ones, before all rounds"
    )
    parser.add_argument("--lanes", type=int, default=4)
    parser.add_argument("--small-batch-bytes", type=int, default=2**24, help="0: always in lanes")
    parser.add_argument("--as-it-comes", action="store_true", help="neither is tuned")
    parser.set_defaults(read_tuned=True, python=False, filling="repeats", ours_lz4=[])
    return parser.parse_args()


def turn(
    stage: Stage, variant: Variant, asked: argparse.Namespace
) -> tuple[list[BatchTime], Spent]:
    """One query to the end of its input; what a batch of it cost, in the mean."""
    before = all_spent(stage)
    batches = run(stage, JOBS[asked.job], asked.input, variant, asked)
    went = all_spent(stage)
    went.subtract(before)
    return batches, Counter({name: ms / len(batches) for name, ms in went.items()})


def all_spent(stage: Stage) -> Spent:
    spent: Spent = Counter()
    for name, pids in (("Spark's", [stage.jvm_pid]), ("brokers'", broker_pids())):
        for pid in pids:
            for work, ms in by_work(pid):
                spent[f"{name} {work}"] += ms
    spent["Python's driver"] = time.process_time() * 1000
    # user nice system idle iowait …
    ticks = Path("/proc/stat").read_text().split("\n", maxsplit=1)[0].split()
    spent["nothing (idle)"] = (int(ticks[4]) + int(ticks[5])) * 1000 / TICKS_A_SECOND
    return spent


def by_work(pid: int) -> Iterator[tuple[str, float]]:
    """Threads that have ended count among the rest: only their process remembers them."""
    _, rest = _name_and_ms(Path(f"/proc/{pid}/stat"))
    for thread in Path(f"/proc/{pid}/task").iterdir():
        name, ms = _name_and_ms(thread / "stat")
        work = next((work for work, pattern in WORK.items() if pattern.match(name)), None)
        if work is not None:
            rest -= ms
            yield work, ms
    yield "tasks, requests and the rest", rest


def _name_and_ms(stat: Path) -> tuple[str, float]:
    try:
        text = stat.read_text()
    except OSError:  # it has ended
        return "", 0.0
    name, _, rest = text.partition("(")[2].rpartition(")")
    fields = rest.split()
    return name, (int(fields[11]) + int(fields[12])) * 1000 / TICKS_A_SECOND


def broker_pids() -> list[int]:
    return [
        int(each.name)
        for each in Path("/proc").iterdir()
        if each.name.isdigit() and b"kafka.Kafka" in _command_of(each)
    ]


def _command_of(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


def report(
    asked: argparse.Namespace,
    names: tuple[str, str],
    times: dict[str, list[BatchTime]],
    spent: dict[str, list[Spent]],
) -> None:
    means = [statistics.mean(each.seconds for each in times[name]) * 1000 for name in names]
    medians = [statistics.median(each.seconds for each in times[name]) * 1000 for name in names]
    rows: list[list[object]] = [
        ["a trigger, mean", *(f"{ms:.0f}" for ms in means), f"{means[0] / means[1]:.2f}×"],
        ["a trigger, median", *(f"{ms:.0f}" for ms in medians), f"{medians[0] / medians[1]:.2f}×"],
    ]
    for work in sorted({work for name in names for each in spent[name] for work in each}):
        each = [statistics.mean(went[work] for went in spent[name]) for name in names]
        rows.append([work, *(f"{ms:.0f}" for ms in each), ""])
    table(
        f"**{JOBS[asked.job].name}, {asked.input.record_bytes} bytes**, milliseconds a batch of"
        f" {asked.input.records // asked.batches:,}, {len(times[names[0]])} batches each",
        ["", *names, ""],
        rows,
    )


if __name__ == "__main__":
    main()
