"""A scenario as read from TOML, checked as a whole before anything is started."""

import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import onceproof.scenarios
from onceproof.checks.catalog import check_named
from onceproof.errors import UsageError, unknown_name
from onceproof.faults.program import EVERY_DEFAULT
from onceproof.faults.schedule import Step, parse_schedule
from onceproof.trial.judging.points import check_points
from onceproof.trial.judging.seen import check_patterns
from onceproof.trial.planning.variants import VARIANTS, check_variants, variants_of, varied
from onceproof.workloads.pace import TICK_S, Pace

DIRECTORY = Path(onceproof.scenarios.__file__).parent
DEFAULT = "chaos_loop"
LIVE_FROM_ITERATIONS = 5
VARIANT_SIGN = ":"


class Cure(BaseModel):
    """Other settings of the suspect or of the brokers, and what is expected with them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    settings: dict[str, str] = Field(default_factory=dict)
    broker_properties: dict[str, str] = Field(default_factory=dict)
    expect: Literal["HELD", "BROKEN", "UNKNOWN"] = "HELD"
    expect_anomalies: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()


class Scenario(BaseModel):
    """Field names are the keys of the file; all but those that make it one have defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[A-Za-z0-9_.-]{1,80}$")  # part of the topics' names
    description: str
    suspect: str
    workload: str
    expect: Literal["HELD", "BROKEN", "UNKNOWN"]
    expect_anomalies: tuple[str, ...] = ()
    # Other suspects that a suite puts into the same, and what is expected of each.
    also: dict[str, Literal["HELD", "BROKEN"]] = Field(default_factory=dict)
    records: int = Field(default=6_400, ge=1, le=100_000_000)
    records_min: int = Field(default=1, ge=1)  # with fewer there would be nothing to find out
    keys: int | None = Field(default=None, ge=1)
    instances: int = Field(default=1, ge=1, le=16)
    first_instance: int = Field(default=0, ge=0, le=1)  # the number of the first
    running: int | None = Field(default=None, ge=0)  # from the start; none given: all
    program: str | None = None  # "1 2 3" instead of instances and faults: see faults/program.py
    program_every: str = EVERY_DEFAULT
    iterations: int = Field(default=1, ge=1, le=1000)
    shares: tuple[int, ...] = ()  # of the input, for each iteration; none: equal ones
    # Each iteration's input is spread over so many seconds; 0: one burst.
    feed_s: float = Field(default=0.0, ge=0)
    records_per_second: int | None = Field(default=None, ge=1)  # instead of feed_s
    # Besides these so many at once, each time so many seconds have passed.
    burst_records: int = Field(default=0, ge=0)
    burst_every_s: float = Field(default=10.0, ge=TICK_S)
    # So much of each iteration's input comes only when its last fault is due: that hits work, then,
    # however few the records are and however quick the suspect is.
    held_back_percent: int = Field(default=0, ge=0, le=90)
    partitions: int = Field(default=4, ge=1, le=256)
    brokers: int = Field(default=3, ge=1, le=3)
    # Apart: the quorum is a process of its own, and lives when brokers go.
    controllers: Literal["combined", "apart"] = "combined"
    kafka: str = "4.3.1"
    transaction_timeout_ms: int = Field(default=10_000, ge=1_000)
    stuck_after_s: float = Field(default=90.0, gt=0)
    aftermath_s: float = Field(default=0.0, ge=0)  # so long one that is stuck is looked on
    drain_s: float = Field(default=300.0, gt=0)
    settings: dict[str, str] = Field(default_factory=dict)
    broker_properties: dict[str, str] = Field(default_factory=dict)
    # A quota: so many bytes a second each producer of the suspect may write; none: no quota.
    producer_byte_rate: int | None = Field(default=None, ge=1)
    checks: tuple[str, ...] = ()  # none: all
    points: tuple[str, ...] = ()  # what is expected besides the verdict: see judging/points.py
    wire_between_brokers: bool = False  # the proxy stands between the brokers, too
    # The versions of one part on which its verdict is known: `onceproof matrix` goes along them.
    axis: Literal["kafka", "streams", "clients"] | None = None
    axis_suspect: str | None = None  # if it is another than the scenario's own
    ticket: str = ""
    luck: bool = False  # nothing is expected of any version: how often it breaks is measured
    versions: dict[str, Literal["HELD", "BROKEN"]] = Field(default_factory=dict)
    # The first version that has the bug, and the first that has it no more, as the ticket tells.
    since: str | None = None
    fixed_in: str | None = None
    # Keys, settings, actions of faults, without which nothing must break: see variants.py.
    cause: tuple[str, ...] = ()
    live: bool | None = None  # watch the output while it is written; by default in long loops
    faults: tuple[dict[str, Any], ...] = ()
    # Patterns of what must have been noted: without it nothing was shown, and it is UNKNOWN.
    seen: tuple[str, ...] = ()
    cures: dict[str, Cure] = Field(default_factory=dict)

    def watches_live(self) -> bool:
        """A short loop is judged often enough; the live validator takes its share of the cores."""
        return self.live if self.live is not None else self.iterations > LIVE_FROM_ITERATIONS

    def pace(self) -> Pace | None:
        """None: as fast as they can be written."""
        if self.records_per_second is not None:
            return Pace(self.records_per_second, self.burst_records, self.burst_every_s)
        return Pace(self.records / self.iterations / self.feed_s) if self.feed_s else None

    def schedule(self) -> tuple[Step, ...]:
        return parse_schedule(self.faults)


# What `--set` may change besides the suspect's own settings.
SETTABLE = (
    "keys",
    "instances",
    "program_every",
    "feed_s",
    "records_per_second",
    "burst_records",
    "burst_every_s",
    "held_back_percent",
    "producer_byte_rate",
    "partitions",
    "brokers",
    "transaction_timeout_ms",
    "stuck_after_s",
    "drain_s",
    "live",
)


def scenario_names() -> list[str]:
    return sorted(path.stem for path in DIRECTORY.glob("*.toml"))


def load_scenario(name: str) -> Scenario:
    """By the name of a shipped scenario, or by the path of the user's own file (*.toml).

    A variant of it has its name after a colon: kafka_20685_stale_checkpoint:punctuator. So have
    one with a cure, poll_interval_eviction:polling, and the control, where a cause is named.
    """
    of, *variants = name.split(VARIANT_SIGN)
    data = _read(of)
    scenario = make_scenario({key: data[key] for key in data if key != VARIANTS})
    for variant in variants:  # a variant has a control, too
        data = varied(data, variant)
        scenario = make_scenario(data)
    return scenario


def variant_names(name: str) -> list[str]:
    """Without the cures, which the scenario itself has."""
    return variants_of(_read(name))


def _read(name: str) -> dict[str, Any]:
    path = Path(name) if name.endswith(".toml") else DIRECTORY / f"{name}.toml"
    if not path.is_file():
        if name.endswith(".toml"):
            raise UsageError(f"scenario file {name} does not exist")
        raise unknown_name("scenario", name, scenario_names())
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"scenario {path.name} is not TOML: {error}") from error
    named = {"name": path.stem, **data}
    check_variants(named)
    return named


def make_scenario(data: dict[str, Any]) -> Scenario:
    try:
        scenario = Scenario(**data)
    except ValidationError as error:
        raise UsageError(_told(data.get("name", "?"), error)) from error
    scenario.schedule()
    _check_axis(scenario)
    for check in scenario.checks:
        check_named(check)
    check_points(scenario.points)
    _check_seen(scenario)
    _check_iterations(scenario)
    if scenario.burst_records and scenario.records_per_second is None:
        raise UsageError(
            f"scenario {scenario.name}: bursts come on top of a pace: burst_records needs"
            " records_per_second"
        )
    if scenario.program is not None and scenario.faults:
        raise UsageError(
            f"scenario {scenario.name} has a program, which is a schedule: leave its faults out"
        )
    return scenario


def _check_seen(scenario: Scenario) -> None:
    cures = (pattern for cure in scenario.cures.values() for pattern in cure.seen)
    check_patterns([*scenario.seen, *cures], f"scenario {scenario.name}")


def _check_axis(scenario: Scenario) -> None:
    if bool(scenario.versions) != (scenario.axis is not None):
        raise UsageError(
            f"scenario {scenario.name}: `axis` and `versions` go together: which part has these"
            " versions, and what is expected of each"
        )


def _check_iterations(scenario: Scenario) -> None:
    shares, iterations = scenario.shares, scenario.iterations
    if shares and (len(shares) != iterations or min(shares) < 1):
        raise UsageError(
            f"scenario {scenario.name}: shares needs a number from 1 for each of {iterations}"
            f" iterations; got {list(shares)}"
        )
    for step in scenario.schedule():
        if (step.iteration or 1) > iterations:
            raise UsageError(
                f"scenario {scenario.name}: a fault is for iteration {step.iteration}, and there"
                f" are {iterations}"
            )
        share = max(step.at.progress or 0.0, step.at.written or 0.0)
        if share * 100 > 100 - scenario.held_back_percent:
            raise UsageError(
                f"scenario {scenario.name}: a fault is due at {share:.0%} of the input, and"
                f" {scenario.held_back_percent} % of it are held back until the last one is due"
            )


def _told(name: str, error: ValidationError) -> str:
    problem = error.errors()[0]
    key = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        return f"scenario {name}: {unknown_name('key', key, Scenario.model_fields)}"
    return f"scenario {name}: {key}: {problem['msg']}; got {problem['input']!r}"
