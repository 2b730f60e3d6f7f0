"""Exit codes are a contract: other people's scripts rely on them."""

import subprocess
import sys
from pathlib import Path

import pytest

from onceproof.cli import main as main_module
from onceproof.cli.main import main
from onceproof.errors import ClusterError, JarError, OnceproofError, UsageError
from onceproof.history.finding import Finding
from onceproof.history.grid import Grid
from onceproof.history.run_directory import RunDirectory
from onceproof.history.verdict import TrialResult, Verdict


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--help"], 0, "Puts an exactly-once pipeline on trial"),
        (["--version"], 0, "onceproof "),
        (["list", "checks"], 0, "duplicated"),
        (["list", "moons"], 254, "unknown kind 'moons'; known: checks, faults"),
        (["run", "nope"], 254, "unknown scenario 'nope'; known: chaos_loop"),
        (["run", "--seed", "x"], 254, "Invalid value for '--seed'"),
        (["run", "--no-such-option"], 254, "No such option"),
        (["run", "kafka_14624_stale_cache", "--program", "1 0"], 254, "from 1 to 16, like '1 2 3'"),
        (["run", "kafka_14624_stale_cache", "--program", "one two"], 254, "got 'one two'"),
        (["fly"], 254, "No such command 'fly'"),
        ([], 254, "Usage"),
        (["report", "/nowhere"], 254, "verdict.json"),
        (["check", "/nowhere"], 254, "no finished run directory"),
        (["suite", "--junit", "/nowhere/x.xml"], 254, "--junit /nowhere/x.xml: there is no such"),
        (["shrink", "/nowhere"], 254, "no finished run directory: run.json is missing"),
        (["run", "--random-faults", "0"], 254, "a number from 1 to 20; got 0"),
        (["matrix", "tc01_normal"], 254, "names no axis to go along; those that do: kafka_14624"),
        (["matrix", "kafka_17507_marker_race", "--versions", "9"], 254, "unknown Kafka version"),
        (["matrix", "all", "--repeat", "0"], 254, "--repeat takes a number from 1 to 100"),
        (["cluster", "status", "--directory", "/nowhere"], 254, "no cluster in /nowhere"),
    ],
)
def test_every_way_to_end_has_its_code(
    arguments: list[str], code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == code
    printed = capsys.readouterr()
    assert told in printed.out + printed.err


def test_a_traceback_is_255_and_never_looks_like_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def explode(**_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(main_module, "app", explode)
    assert main([]) == 255
    assert "RuntimeError: boom" in capsys.readouterr().err


def test_help_and_list_load_neither_spark_nor_a_client_of_kafka_or_of_a_database() -> None:
    program = (
        "import sys\n"
        "from onceproof.cli.main import main\n"
        "assert main(['list']) == 0\n"
        "heavy = {'pyspark', 'kafka', 'confluent_kafka', 'pandas', 'pyarrow', 'psycopg',"
        " 'cassandra', 'jpype'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {heavy}' if heavy else 0)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr


def test_what_a_sweep_cannot_go_on_with_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", "--resume", str(tmp_path)]) == 254
    assert "holds no sweep" in capsys.readouterr().err
    (tmp_path / "sweep.json").write_text("{}")
    assert main(["sweep", "--resume", str(tmp_path)]) == 254
    assert "is no sweep of this version" in capsys.readouterr().err
    grid = Grid(suspect="s", workload="copy", seed=1, asked={"moons": 2, "settings": []})
    grid.save(tmp_path / "sweep.json")
    assert main(["sweep", "--resume", str(tmp_path)]) == 254
    assert "is no sweep of this version" in capsys.readouterr().err
    assert main(["sweep", "--resume", str(tmp_path), "--seed", "3"]) == 254
    assert "leave other options out" in capsys.readouterr().err
    assert main(["sweep", "--only", "EndTx"]) == 254
    assert "unknown crash point 'EndTx'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("verdict", "plain", "bisect"), [("HELD", 0, 0), ("BROKEN", 1, 1), ("UNKNOWN", 2, 125)]
)
def test_bisect_skips_what_could_not_be_told(
    verdict: str, plain: int, bisect: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdict is given here: only what becomes of it is looked at."""
    result = TrialResult(
        scenario="s", suspect="c", workload="copy", seed=1, verdict=Verdict(verdict)
    )
    ended = result, RunDirectory(tmp_path)
    monkeypatch.setattr("onceproof.trial.run.run_trial", lambda *_: ended)
    assert main(["run", "tc01_normal", "--json"]) == plain
    assert main(["run", "tc01_normal", "--json", "--bisect"]) == bisect


@pytest.mark.parametrize(("found", "bisect"), [("lost", 1), ("died", 125)])
def test_bisect_skips_a_build_that_breaks_otherwise(
    found: str, bisect: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a scenario that is to find lost records."""
    result = TrialResult(
        scenario="s",
        suspect="c",
        workload="copy",
        seed=1,
        verdict=Verdict.BROKEN,
        findings=(Finding(anomaly=found, count=1),),
    )
    ended = result, RunDirectory(tmp_path)
    monkeypatch.setattr("onceproof.trial.run.run_trial", lambda *_: ended)
    assert main(["run", "streams_skip_after_corrupted", "--json"]) == 1
    assert main(["run", "streams_skip_after_corrupted", "--json", "--bisect"]) == bisect


def test_a_run_that_cannot_be_read_again_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = RunDirectory(tmp_path)
    (directory.history / "output").mkdir(parents=True)
    directory.run_json.write_text('{"case": {"moons": 2, "checks": []}}')
    directory.verdict_json.write_text('{"scenario": ')
    assert main(["check", str(tmp_path)]) == 254
    assert "is it cut short" in capsys.readouterr().err
    result = TrialResult(scenario="s", suspect="c", workload="copy", seed=1, verdict=Verdict.HELD)
    result.save(directory.verdict_json)
    assert main(["check", str(tmp_path)]) == 254
    assert "or of another onceproof" in capsys.readouterr().err


def test_runs_that_may_not_be_written_are_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the system: root may write everywhere, so it is asked to say no here."""

    def refused(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refused)
    assert main(["run", "tc01_normal", "--runs-dir", str(tmp_path)]) == 254
    assert f"--runs-dir {tmp_path} cannot be used" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("problem", "plain", "bisect"),
    [
        (ClusterError("broker 1 has ended"), 255, 125),
        (JarError("a jar broke off"), 254, 125),
        (UsageError("no such thing"), 254, 254),
    ],
)
def test_bisect_skips_a_build_that_cannot_be_tried_and_no_mistake_of_the_users(
    problem: OnceproofError,
    plain: int,
    bisect: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> None:
        raise problem

    monkeypatch.setattr("onceproof.trial.run.run_trial", fail)
    assert main(["run", "tc01_normal"]) == plain
    assert main(["run", "tc01_normal", "--bisect"]) == bisect
    assert str(problem) in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("scenario", "option", "library"),
    [
        ("kafka_20685_stale_checkpoint", "--streams-jars", "kafka-streams-9.9.0.jar"),
        ("kafka_17507_marker_race", "--kafka-jars", "kafka_2.13-9.9.0.jar"),
    ],
)
def test_bisect_skips_a_build_that_left_no_library_or_half_of_one(
    scenario: str,
    option: str,
    library: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`git bisect run` ends at any code from 128 on: a commit that cannot be built must not."""
    folder = tmp_path / "libs"
    words = ["run", scenario, option, str(folder)]
    for left in ("nothing", "an empty folder", "half a jar"):
        if left != "nothing":
            folder.mkdir(exist_ok=True)
        if left == "half a jar":
            (folder / library).write_bytes(b"PK\x03\x04 and no more")
        assert (main(words), main([*words, "--bisect"])) == (254, 125), left
        assert str(folder) in capsys.readouterr().err.splitlines()[-1]
