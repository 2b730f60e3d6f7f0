"""The command line on top of a scenario: everything wrong is told before anything is started."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from onceproof.errors import UsageError
from onceproof.faults.wire_aim import WireAim
from onceproof.trial.planning.plan import make_plan
from onceproof.trial.planning.request import Request
from onceproof.trial.planning.scenario import load_scenario, make_scenario, scenario_names


@pytest.mark.parametrize("name", scenario_names())
def test_every_shipped_scenario_makes_a_plan(name: str) -> None:
    plan = make_plan(Request(scenario=name))
    assert plan.scenario.name == name


def test_the_default_is_a_chaos_loop_of_three_iterations_with_three_faults_each() -> None:
    plan = make_plan(Request())
    assert (plan.scenario.name, plan.scenario.iterations, len(plan.schedule)) == (
        "chaos_loop",
        3,
        3,
    )
    assert plan.input.records == 6_400


def test_iterations_share_the_input_without_gap_or_overlap() -> None:
    plan = make_plan(Request(records=1_000, iterations=3))
    assert plan.slices() == [(0, 333), (333, 666), (666, 1000)]


def test_a_longer_loop_gets_more_records_unless_it_is_told_how_many() -> None:
    assert make_plan(Request(iterations=50)).input.records == 50 * (6_400 // 3)
    assert make_plan(Request(iterations=50, records=1_000)).input.records == 1_000


def test_batches_grow_with_the_input_of_an_iteration() -> None:
    plan = make_plan(Request(scenario="tc01_normal"))
    assert plan.settings["max_offsets_per_trigger"] == "400"
    plan = make_plan(Request(scenario="tc01_normal", records=1_000_000))
    assert plan.settings["max_offsets_per_trigger"] == "62500"


@pytest.mark.parametrize(
    ("variant", "records", "state_bytes"),
    [
        ("", None, 8_192),
        ("", 2_000, 32_768),
        ("", 60_000, 1_093),
        (":static_membership", 4_000, 16_384),
        (":punctuator", None, 32_768),
        (":punctuator", 2_000, 131_072),
    ],
)
def test_states_fill_the_same_memtables_however_few_the_records_are(
    variant: str, records: int | None, state_bytes: int
) -> None:
    scenario = f"kafka_20685_stale_checkpoint{variant}"
    settings = make_plan(Request(scenario=scenario, records=records)).settings
    assert settings["state_bytes"] == str(state_bytes)
    own = make_plan(Request(scenario=scenario, records=records, settings=("state_bytes=7",)))
    assert own.settings["state_bytes"] == "7"


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (
            Request(scenario="kafka_20685_stale_checkpoint", records=60),
            "state_bytes must be at most 1000000, as messages of Kafka are; got '1092267'"
            " (65536000 / records): ask for more --records",
        ),
        (Request(scenario="nope"), "unknown scenario 'nope'; known: chaos_loop, "),
        (Request(scenario="nope.toml"), "scenario file nope.toml does not exist"),
        (Request(suspect="nope"), "unknown suspect 'nope'; known: command, consumer_auto_commit"),
        (Request(workload="nope"), "unknown workload 'nope'; known: copy, dedup, fold, last"),
        (Request(kafka="0.8"), "unknown Kafka version '0.8'; known: 3.3.1"),
        (Request(settings=("nope=1",)), "unknown key of --set 'nope'; known: broker.<property>"),
        (
            Request(settings=("small_batch_bytes=-1",)),
            "--set small_batch_bytes must be a whole number from 0; got '-1'",
        ),
        (Request(settings=("jvm=yes",)), "--set jvm takes true or false; got 'yes'"),
        (Request(settings=("lanes=abc",)), "--set lanes must be a whole number from 1; got 'abc'"),
        (Request(program="1 0"), "numbers of instances from 1 to 16, like '1 2 3'"),
        (Request(program="one"), "or 'random'; got 'one'"),
        (Request(program="1 1"), "program '1 1' ends with no instance running"),
        (Request(program="1", random_faults=2), "leave one out"),
        (
            Request(command="x", workload="copy", settings=("producer_byte_rate=1",)),
            "a quota is set on client ids, and those of command's producers are not",
        ),
        (
            Request(scenario="kafka_17455_quota", bootstrap_server="localhost:9092"),
            "--kafka, --kafka-jars, broker properties and quotas are for clusters that onceproof",
        ),
        (Request(streams="4.3.1"), "--streams goes with suspects of Kafka Streams"),
        (
            Request(suspect="streams_exactly_once", streams="0.1"),
            "unknown version of Kafka Streams '0.1'; known: 3.3.1",
        ),
        (
            Request(suspect="streams_exactly_once", settings=("lanes=2",)),
            "known: broker.<property>, brokers, burst_every_s, burst_records, cache",
        ),
        (
            Request(suspect="streams_exactly_once", settings=("cache=yes",)),
            "--set cache takes true or false; got 'yes'",
        ),
        (
            Request(suspect="streams_exactly_once", settings=("state_bytes=-1",)),
            "--set state_bytes must be a whole number from 0; got '-1'",
        ),
        (
            Request(suspect="streams_java", workload="fold", settings=("watermark_ms=200",)),
            "--set watermark_ms goes with the workload copy; got fold",
        ),
        (Request(command="my 'app"), "cannot be read: No closing quotation"),
        (Request(settings=("lanes",)), "--set takes key=value; got 'lanes'"),
        (Request(settings=("instances=0",)), "instances: Input should be greater than or equal"),
        (Request(settings=("instances=2",)), "runs as at most 1 instance(s); got 2"),
        (Request(random_faults=0), "--random-faults takes a number from 1 to 20; got 0"),
        (Request(records=0), "records: Input should be greater than or equal"),
        (Request(records=2, iterations=3), "3 iterations need at least as many records; got 2"),
        (Request(suspect="command"), "suspect 'command' needs --command"),
        (Request(suspect="spark_exactly_once", command="x"), "--command goes with the suspect"),
    ],
)
def test_bad_input_is_told_with_what_is_known(request_: Request, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)) as told:
        make_plan(request_)
    assert told.value.exit_code == 254


def test_brokers_of_a_cluster_that_runs_already_are_not_touched() -> None:
    with pytest.raises(UsageError, match="its processes are not ours to touch"):
        make_plan(Request(scenario="chaos_loop", bootstrap_server="localhost:9092"))
    make_plan(Request(scenario="tc02_crash_loop", bootstrap_server="localhost:9092"))


def test_what_needs_the_proxy_is_refused_where_there_can_be_none(tmp_path: Path) -> None:
    aimed = tmp_path / "aimed.toml"
    aimed.write_text(
        """
        description = "one kill, aimed at a frame"
        suspect = "consumer_transactional"
        workload = "copy"
        expect = "HELD"
        faults = [{action="kill", target="instance:0", at="10%", aim="EndTxn request"}]
        """
    )
    with pytest.raises(UsageError, match="do not lead through our proxy"):
        make_plan(Request(scenario=str(aimed), bootstrap_server="localhost:9092"))
    with pytest.raises(UsageError, match="leave --keep-cluster out"):
        make_plan(Request(scenario=str(aimed), keep_cluster=True))
    assert [step.needs_wire for step in make_plan(Request(scenario=str(aimed))).schedule] == [True]


def test_a_command_copies_unless_it_is_said_to_do_something_else() -> None:
    assert make_plan(Request(command="my app")).scenario.workload == "copy"
    assert make_plan(Request(command="my app", workload="fold")).scenario.workload == "fold"


def test_settings_reach_the_suspect_the_brokers_and_the_scenario() -> None:
    pairs = ("lanes=4", "broker.num.io.threads=2", "partitions=8")
    plan = make_plan(Request(settings=pairs))
    assert plan.settings["lanes"] == "4"
    assert plan.scenario.broker_properties == {"num.io.threads": "2"}
    assert plan.scenario.partitions == 8


def test_any_property_of_streams_can_be_set_by_its_own_name() -> None:
    pairs = ("streams.commit.interval.ms=7", "streams=3.3.1")
    plan = make_plan(Request(suspect="streams_exactly_once", settings=pairs))
    assert plan.settings["streams.commit.interval.ms"] == "7"
    assert plan.settings["streams"] == "3.3.1"


def test_the_option_streams_is_short_for_the_setting() -> None:
    plan = make_plan(Request(suspect="streams_at_least_once", streams="3.7.2"))
    assert plan.settings["streams"] == "3.7.2"
    assert plan.repeat.endswith("--suspect streams_at_least_once --seed 1 --streams 3.7.2")


def test_a_program_becomes_a_schedule_of_toggles() -> None:
    plan = make_plan(Request(suspect="streams_at_least_once", program="1 2 1"))
    scenario = plan.scenario
    assert [(fault["target"], fault["at"]) for fault in scenario.faults] == [
        ("instance:1", "0 s"),
        ("instance:2", "15 s"),
        ("instance:1", "30 s"),
    ]
    assert (list(plan.instance_numbers), scenario.running, scenario.program) == ([1, 2], 0, None)
    assert scenario.feed_s == 60  # there is work until the last step, and after it
    # chaos_loop has three: the second would toggle those that run, and nobody would be left.
    assert (scenario.iterations, plan.faults_scheduled, len(plan.slices())) == (1, 3, 1)


def test_what_a_scenarios_own_faults_would_show_is_not_asked_of_random_ones() -> None:
    name = "kafka_20685_stale_checkpoint"
    assert make_plan(Request(scenario=name)).scenario.seen
    assert make_plan(Request(scenario=name, random_faults=2)).scenario.seen == ()


def test_a_program_is_gone_through_once() -> None:
    with pytest.raises(UsageError, match=r"once: leave --iterations out"):
        make_plan(Request(suspect="streams_at_least_once", program="1 2", iterations=2))


def test_too_few_records_to_find_anything_out_are_refused() -> None:
    with pytest.raises(UsageError, match=r"needs at least 2000 records .*; got 1$"):
        make_plan(Request(scenario="streams_skip_after_corrupted", records=1))
    assert make_plan(Request(scenario="streams_skip_after_corrupted", records=2000))


def test_a_program_can_go_by_progress() -> None:
    settings = ("program_every=20%",)
    plan = make_plan(Request(suspect="streams_at_least_once", program="1 2 3", settings=settings))
    assert [str(step.at) for step in plan.schedule] == ["0%", "20%", "40%"]


def test_the_shares_of_the_iterations_cut_the_input() -> None:
    plan = make_plan(Request(scenario="kafka_20685_stale_checkpoint"))
    assert plan.slices() == [(0, 500), (500, 8_000)]
    assert plan.faults_scheduled == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shares": [1, 2, 3]}, "a number from 1 for each of 2 iterations; got [1, 2, 3]"),
        ({"iterations": 1, "shares": []}, "for iteration 2, and there are 1"),
        ({"program": "1 2"}, "leave its faults out"),
        ({"burst_records": 9}, "burst_records needs records_per_second"),
    ],
)
def test_iterations_shares_bursts_and_faults_go_together(change: dict, message: str) -> None:
    data = load_scenario("kafka_20685_stale_checkpoint").model_dump()
    with pytest.raises(UsageError, match=re.escape(message)):
        make_scenario({**data, **change})


def test_a_suspect_that_takes_long_to_be_back_gets_a_longer_feed() -> None:
    plan = make_plan(Request(suspect="streams_exactly_once"))  # one kill; 3 and 4 s of other faults
    assert plan.scenario.feed_s == 5 + 9 + 3 + 4
    given = make_plan(Request(suspect="streams_exactly_once", settings=("feed_s=7",)))
    assert given.scenario.feed_s == 7
    assert make_plan(Request()).scenario.feed_s == 5


def test_the_repeat_command_asks_for_the_same_again() -> None:
    request = Request(scenario="tc01_normal", command="my app", seed=7, settings=("a=b c",))
    assert make_plan(request).repeat == (
        "onceproof run tc01_normal --command 'my app' --seed 7 --set 'a=b c'"
    )


def test_a_users_own_scenario_file_is_read_and_its_mistakes_are_named(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    text = 'description = "d"\nsuspect = "command"\nworkload = "copy"\nexpect = "HELD"\n'
    own.write_text(text)
    assert load_scenario(str(own)).name == "mine"
    own.write_text(text + "colour = 3\n")
    with pytest.raises(UsageError, match="unknown key 'colour'; known: aftermath_s, also, axis, "):
        load_scenario(str(own))
    own.write_text(text + '[[faults]]\naction = "kill"\ntarget = "moon"\nat = "3 s"\n')
    with pytest.raises(UsageError, match="unknown target 'moon'; known: broker:N"):
        load_scenario(str(own))
    own.write_text("= nonsense")
    with pytest.raises(UsageError, match="is not TOML"):
        load_scenario(str(own))


def test_random_faults_replace_those_of_the_scenario_and_the_seed_decides_them() -> None:
    plan = make_plan(Request(random_faults=5, seed=3))
    assert len(plan.schedule) == 5
    assert plan.schedule == make_plan(Request(random_faults=5, seed=3)).schedule
    assert plan.schedule != make_plan(Request(random_faults=5, seed=4)).schedule
    assert plan.schedule == plan.scenario.schedule()  # so that run.json has them
    assert plan.repeat == "onceproof run chaos_loop --seed 3 --random-faults 5"


def test_random_faults_get_time_enough_to_find_the_suspect_at_work() -> None:
    assert make_plan(Request(scenario="tc01_normal", random_faults=5)).scenario.feed_s == 20
    slow = Request(scenario="tc01_normal", random_faults=2, settings=("feed_s=60",))
    assert make_plan(slow).scenario.feed_s == 60


@pytest.mark.parametrize("seed", range(1, 40))
def test_random_faults_hit_only_what_this_run_has(seed: int) -> None:
    request = Request(scenario="tc01_normal", random_faults=8, seed=seed)
    foreign = make_plan(replace(request, bootstrap_server="localhost:9092"))
    assert not any(step.hits_brokers or step.needs_wire for step in foreign.schedule)
    kept = make_plan(replace(request, keep_cluster=True))
    assert not any(step.needs_wire for step in kept.schedule)
    plain = make_plan(replace(request, suspect="consumer_manual_commit", workload="copy"))
    aims = {step.aim.api for step in plain.schedule if isinstance(step.aim, WireAim)}
    assert aims <= {"Fetch", "Produce", "OffsetCommit"}
    table = make_plan(replace(request, suspect="consumer_postgres", workload="copy"))
    aims = {step.aim.api for step in table.schedule if isinstance(step.aim, WireAim)}
    assert aims <= {"Fetch"}


def test_a_user_may_say_how_the_own_command_keeps_its_position() -> None:
    def suspect(*settings: str) -> tuple[bool | None, bool | None]:
        plan = make_plan(Request(scenario="tc01_normal", command="x", settings=settings))
        assert not {"transactional", "offsets_in_group"} & set(plan.settings)
        return plan.suspect.transactional, plan.suspect.offsets_in_group

    assert suspect() == (None, None)
    assert suspect("transactional=false") == (False, None)
    assert suspect("transactional=true", "offsets_in_group=true") == (True, True)
    with pytest.raises(UsageError, match="--set offsets_in_group takes true or false; got 'yes'"):
        suspect("offsets_in_group=yes")


@pytest.mark.parametrize(
    ("scenario", "said", "guarantee"),
    [
        ("kafka_14624_stale_cache", (), "at_least_once"),
        ("kafka_20685_stale_checkpoint", (), "exactly_once_v2"),
        ("kafka_14624_stale_cache", ("guarantee=exactly_once_v2",), "exactly_once_v2"),
    ],
)
def test_who_can_claim_either_guarantee_claims_what_the_scenarios_own_suspect_does(
    scenario: str, said: tuple[str, ...], guarantee: str
) -> None:
    plan = make_plan(Request(scenario=scenario, suspect="streams_java", settings=said))
    assert plan.settings["guarantee"] == guarantee
    assert plan.suspect.transactional is (guarantee == "exactly_once_v2")


def test_a_program_goes_on_until_the_end_of_the_input_whatever_its_scenario_holds_back() -> None:
    words = {"program": "1 2 3 1", "settings": ("program_every=33%",)}
    plan = make_plan(Request(suspect="streams_exactly_once", **words))  # type: ignore[arg-type]
    assert (plan.schedule[-1].at.progress, plan.scenario.held_back_percent) == (0.99, 0)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ('[settings]\n"producers.linger.ms" = "5"', "producers.linger.ms"),
        (
            '[[faults]]\naction = "restart"\ntarget = "instance:0"\nat = "30%"\n'
            'settings = { lingers = "5" }',
            "lingers",
        ),
    ],
)
def test_a_setting_that_the_scenarios_own_suspect_does_not_know_is_refused(
    wrong: str, named: str, tmp_path: Path
) -> None:
    """It would be a wish that nobody hears of."""
    file = tmp_path / "mine.toml"
    file.write_text(
        'description = "mine"\nsuspect = "consumer_java_own_offsets"\nworkload = "copy"\n'
        'expect = "HELD"\n' + wrong
    )
    refused = re.escape(f"unknown setting of scenario mine '{named}'; known: ")
    with pytest.raises(UsageError, match=refused):
        make_plan(Request(scenario=str(file), runs_dir=tmp_path))
    # Another suspect in its place may know less.
    make_plan(Request(scenario=str(file), suspect="consumer_java", runs_dir=tmp_path))
