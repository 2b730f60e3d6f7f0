"""Three finished runs that never happened, one a verdict, as the trial would have stored them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from made_up_wire import (
    BEGAN_NS,
    BEGAN_S,
    INPUT,
    OUTPUT,
    MadeUpWire,
    killed_between_write_and_checkpoint,
)

from onceproof.history.event import Event
from onceproof.history.fault_record import FaultRecord
from onceproof.history.finding import Finding, Witness
from onceproof.history.run_directory import RunDirectory
from onceproof.history.verdict import TrialResult, Verdict
from onceproof.report.story.steps import Story
from onceproof.report.story.telling import tell_story

VERSIONS = {"onceproof": "0.1.0", "kafka": "4.3.1", "spark": "4.2.0", "java": "17.0.17"}
LOGS = ("broker-1.log", "broker-2.log", "broker-3.log", "instance-0.log", "instance-1.log")


@dataclass(frozen=True, kw_only=True)
class MadeUpRun:
    result: TrialResult
    run: dict[str, Any]
    events: Sequence[Event]
    logs: Sequence[str] = LOGS
    wire: MadeUpWire | None = None

    def stories(self) -> tuple[Story | None, ...]:
        if self.wire is None:
            return ()
        recording = self.wire.recording()
        return tuple(
            tell_story(finding.witnesses[0].facts, recording, self.result.faults, BEGAN_NS)
            for finding in self.result.findings
        )

    def store(self, runs_dir: Path) -> RunDirectory:
        directory = RunDirectory.create(runs_dir, self.result.scenario, self.result.seed)
        self.result.save(directory.verdict_json)
        directory.run_json.write_text(json.dumps(self.run))
        lines = [json.dumps(event.to_json()) + "\n" for event in self.events]
        directory.events.write_text("".join(lines))
        for name in self.logs:
            (directory.logs / name).write_text("a line\n")
        if self.wire is not None:
            self.wire.store(directory.history)
        return directory


def held() -> MadeUpRun:
    """Three iterations of the chaos loop; each kills an instance and then hits a broker."""
    faults = tuple(_loop_faults())
    result = TrialResult(
        scenario="chaos_loop",
        suspect="spark_exactly_once",
        workload="fold",
        seed=7,
        verdict=Verdict.HELD,
        reasons=(
            "6 of 6 faults applied, all input fed, the output drained: 3 iterations found nothing",
        ),
        counts={"input": 6400, "output_committed": 5120, "output_aborted": 311},
        faults=faults,
        versions=VERSIONS,
        duration_s=104.2,
        iterations=3,
        repeat="onceproof run chaos_loop --suspect spark_exactly_once --workload fold --seed 7",
    )
    return MadeUpRun(result=result, run=_run("chaos_loop", 7), events=_loop_events(faults))


def _loop_faults() -> list[FaultRecord]:
    brokers = ("broker 2 (group coordinator)", "broker 1 (leader of out-0)", "broker 3")
    faults = []
    for iteration, broker in enumerate(brokers, start=1):
        at_s = 22.0 + 24 * (iteration - 1)
        faults += [
            FaultRecord(
                action="kill",
                target=f"instance {iteration % 2}",
                at_s=at_s,
                applied=True,
                evidence="SIGKILL with a transaction of producer 4001 open on out-0",
                healed_at_s=at_s + 5.1,
                iteration=iteration,
            ),
            FaultRecord(
                action="pause" if iteration == 2 else "kill",
                target=broker,
                at_s=at_s + 6.4,
                applied=True,
                evidence="the broker answered no request for 4.0 s",
                healed_at_s=at_s + 12.3,
                iteration=iteration,
            ),
        ]
    return faults


def _loop_events(faults: Sequence[FaultRecord]) -> list[Event]:
    events = [
        Event(at_s=0.0, kind="phase", subject="start"),
        Event(at_s=9.1, kind="started", subject="instance 0", detail={"pid": "4001"}),
        Event(at_s=9.2, kind="started", subject="instance 1", detail={"pid": "4002"}),
        Event(at_s=12.0, kind="phase", subject="feed"),
        Event(at_s=18.0, kind="phase", subject="fault"),
        *(Event(at_s=18.0 + 24 * i, kind="iteration", subject=str(i + 1)) for i in range(3)),
        Event(at_s=91.0, kind="phase", subject="drain"),
        Event(at_s=96.5, kind="phase", subject="judge"),
        *(event for fault in faults for event in _events_of(fault)),
        *(_sample(at_s) for at_s in range(12, 97)),
    ]
    return sorted(events, key=lambda event: event.at_s)


def _events_of(fault: FaultRecord) -> list[Event]:
    healed_at_s = fault.healed_at_s or fault.at_s
    detail = {"action": fault.action, "applied": "true", "evidence": fault.evidence}
    events = [
        Event(at_s=fault.at_s, kind="fault", subject=fault.target, detail=detail),
        Event(
            at_s=healed_at_s, kind="healed", subject=fault.target, detail={"action": fault.action}
        ),
    ]
    if fault.target.startswith("instance"):
        ended = {"code": "-9", "asked": "true", "log": "logs/instance-0.log"}
        pid = {"pid": str(4100 + int(fault.at_s))}
        events += [
            Event(at_s=fault.at_s + 0.1, kind="exited", subject=fault.target, detail=ended),
            Event(at_s=healed_at_s - 0.1, kind="started", subject=fault.target, detail=pid),
        ]
    return events


def _sample(at_s: int) -> Event:
    """Input comes evenly until second 80; the suspect stands still for 12 s after each kill."""
    fed = min(6400, (at_s - 12) * 94)
    still = any(22 + 24 * i <= at_s < 34 + 24 * i for i in range(3))
    seen_until = 22 + 24 * ((at_s - 22) // 24) if still else at_s
    position = min(6400, max(0, seen_until - 13) * 94)
    return Event(
        at_s=float(at_s),
        kind="progress",
        detail={
            "input": str(fed),
            "position": str(position),
            "output": str(position * 4 // 5),
            "remaining": str(fed - position),
        },
    )


def broken() -> MadeUpRun:
    """One kill; twelve records came twice and one never."""
    fault = FaultRecord(
        action="kill",
        target="instance 0",
        at_s=14.0,
        applied=True,
        evidence="SIGKILL after 2,118 output records, a batch half written",
        healed_at_s=17.2,
    )
    duplicated = Finding(anomaly="duplicated", count=12, witnesses=tuple(_repeated(3)))
    lost = Finding(
        anomaly="lost",
        count=1,
        witnesses=(
            Witness(
                sentence="id k9-41 of key k9, input at in-1@733, has no output, although the "
                "suspect's position on in-1 is 1600: lost.",
                facts={"id": "k9-41", "key": "k9", "input_topic": INPUT}
                | {"input_partition": 1, "input_offset": 733},
            ),
        ),
    )
    result = TrialResult(
        scenario="tc02_crash_loop",
        suspect="spark_builtin_sink",
        workload="copy",
        seed=3,
        verdict=Verdict.BROKEN,
        reasons=("duplicated: 12 cases", "lost: 1 case"),
        counts={"input": 6400, "output_committed": 6411, "output_aborted": 0},
        findings=(duplicated, lost),
        faults=(fault,),
        versions=VERSIONS,
        duration_s=41.7,
        repeat="onceproof run tc02_crash_loop --suspect spark_builtin_sink --seed 3",
    )
    events = [
        Event(at_s=0.0, kind="phase", subject="start"),
        Event(at_s=8.8, kind="started", subject="instance 0", detail={"pid": "4001"}),
        Event(at_s=9.0, kind="phase", subject="feed"),
        Event(at_s=13.0, kind="phase", subject="fault"),
        *_events_of(fault),
        *(_sample(at_s) for at_s in range(12, 33)),
        Event(at_s=20.0, kind="phase", subject="drain"),
        Event(at_s=33.0, kind="phase", subject="judge"),
    ]
    return MadeUpRun(
        result=result,
        run={"started_unix_s": BEGAN_S, **_run("tc02_crash_loop", 3)},
        events=sorted(events, key=lambda event: event.at_s),
        wire=killed_between_write_and_checkpoint(),
    )


def _repeated(count: int) -> list[Witness]:
    return [
        Witness(
            sentence=f"id k4-{rank} of key k4 stands at out-0@{401 + rank} and again at "
            f"out-0@{977 + rank}, allowed once: duplicated. The second was written 1.2 s after "
            "kill(instance 0).",
            facts={"id": f"k4-{rank}", "key": "k4"}
            | {"topic": OUTPUT, "partition": 0, "offset": 977 + rank}
            | {"first_topic": OUTPUT, "first_partition": 0, "first_offset": 401 + rank}
            | {"input_topic": INPUT, "input_partition": 0, "input_offset": 205 + rank},
        )
        for rank in range(count)
    ]


def unknown() -> MadeUpRun:
    """One fault came too late, and the suspect died by itself before it had drained."""
    missed = FaultRecord(
        action="pause",
        target="broker 2 (transaction coordinator)",
        at_s=31.0,
        applied=False,
        evidence="no transaction was open in the 10 s it waited for one",
    )
    result = TrialResult(
        scenario="my_pipeline",
        suspect="command",
        workload="copy",
        seed=1,
        verdict=Verdict.UNKNOWN,
        reasons=(
            "1 of 1 faults did not apply: pause broker 2 (transaction coordinator)",
            "the output did not drain: 2,118 of 6,400 input records left after 60 s; "
            "see logs/instance-0.log",
        ),
        counts={"input": 6400, "output_committed": 4282},
        faults=(missed,),
        versions={"onceproof": "0.1.0", "kafka": "4.3.1"},
        duration_s=99.9,
        repeat="onceproof run --command \"python pipeline.py --mode 'fast'\" --seed 1",
    )
    died = {"code": "137", "asked": "false", "log": "logs/instance-0.log"}
    events = [
        Event(at_s=0.0, kind="phase", subject="start"),
        Event(at_s=8.8, kind="started", subject="instance 0", detail={"pid": "4001"}),
        Event(at_s=31.0, kind="fault", subject=missed.target, detail={"action": "pause"}),
        Event(at_s=38.0, kind="exited", subject="instance 0", detail=died),
        Event(at_s=39.0, kind="note", subject="waiting for the output", detail={"left": "2118"}),
    ]
    return MadeUpRun(result=result, run={}, events=events, logs=("instance-0.log",))


def _run(scenario: str, seed: int) -> dict[str, Any]:
    return {
        "versions": VERSIONS,
        "seed": seed,
        "command_line": ["onceproof", "run", scenario, "--seed", str(seed)],
        "configuration": {
            "records": 6400,
            "suspect": {"instances": 2, "transaction_timeout_ms": 10000},
            "cluster": {"brokers": 3, "min.insync.replicas": 2},
        },
        "schedule": [
            {"action": "kill", "target": "instance", "when": "after 30 % of the input"},
            {"action": "kill", "target": "broker", "when": "in the recovery window"},
        ],
        "machine": {"system": "Linux 6.1", "cores": 2, "memory": "24 GiB"},
    }
