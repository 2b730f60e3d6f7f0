"""Kafka Streams on real brokers: where a bug of it ends, in Java as in Python, and what holds.

Its bugs by version, their controls and how often they come: test_real_bugs.py.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from onceproof import jars
from onceproof.cache import CACHE_VARIABLE
from onceproof.cluster.local import LocalCluster
from onceproof.machine import find_java
from onceproof.suspects.suspect import ALL_WORKLOADS

REPRODUCTION = Path(__file__).parents[2] / "docs" / "findings" / "SkipAfterCorrupted.java"
pytestmark = [pytest.mark.jury, pytest.mark.timeout(1200)]


def onceproof(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "onceproof", *arguments],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def verdict_of(runs_dir: Path, *arguments: str) -> dict[str, Any]:
    ended = onceproof("run", *arguments, "--runs-dir", str(runs_dir), "--json")
    assert ended.returncode in (0, 1, 2), ended.stderr[-3000:]
    verdict: dict[str, Any] = json.loads(ended.stdout)
    return verdict


def found(verdict: dict[str, Any]) -> list[str]:
    return [finding["anomaly"] for finding in verdict["findings"]]


@pytest.mark.parametrize(("version", "anomalies"), [("3.8.0", ["duplicated"]), ("4.3.1", [])])
def test_a_delayed_end_hits_streams_with_clients_before_epochs_of_their_own(
    version: str, anomalies: list[str], tmp_path: Path
) -> None:
    words = ("kafka_17754_delayed_end_txn", "--suspect", "streams_exactly_once")
    verdict = verdict_of(tmp_path, *words, "--streams", version)
    assert (verdict["verdict"], found(verdict)) == (
        "BROKEN" if anomalies else "HELD",
        anomalies,
    ), verdict["reasons"]


@pytest.mark.parametrize("variant", ["updater_off", "streams_protocol"])
def test_the_skip_does_not_come_where_its_code_path_is_not_taken(
    variant: str, tmp_path: Path
) -> None:
    held = verdict_of(tmp_path, f"streams_skip_after_corrupted:{variant}")
    assert held["verdict"] == "HELD", held["reasons"]


@pytest.mark.parametrize(("version", "is_met"), [("3.8.0", False), ("4.3.1", True)])
def test_the_quota_story_is_checked_point_by_point(
    version: str, is_met: bool, tmp_path: Path
) -> None:
    told = verdict_of(tmp_path, "kafka_17455_quota", "--streams", version)["points"]
    points = {point["name"]: point["met"] for point in told}
    assert points["throttled"] is points["feed_unhindered"] is points["data_is_whole"] is True
    assert points["goes_on"] is is_met, told
    assert all(points.values()) is is_met, told
    report = next(tmp_path.glob("kafka_17455_quota/*/report.txt")).read_text()
    assert "\nTHROTTLED\n" in report


def test_the_report_shows_the_checkpoint_that_stands_still_and_is_trusted(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, "kafka_20685_stale_checkpoint", "--streams", "4.1.2")
    assert (verdict["verdict"], found(verdict)) == ("BROKEN", ["lost"]), verdict["reasons"]
    (report,) = tmp_path.glob("kafka_20685_stale_checkpoint/*/report.txt")
    told = " ".join(report.read_text().split())
    frozen = re.search(
        r"has stood still for 2 s while the client is RUNNING: app-state-changelog-0 at (\d+);"
        r" the changelog ends by now: app-state-changelog-0 at (\d+)",
        told,
    )
    assert frozen is not None
    assert int(frozen[1]) < int(frozen[2])
    assert f"initialized from checkpoint with offset {frozen[1]} at changelog" in told
    lost = verdict["findings"][0]["witnesses"][0]["sentence"]
    assert " ".join(lost.split()) in told


def test_each_broken_line_of_a_program_is_a_stale_finding(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, "kafka_14624_stale_cache", "--program", "1 2 3")
    (stale,) = verdict["findings"]
    (events,) = tmp_path.glob("kafka_14624_stale_cache/*/history/events.jsonl")
    said = [json.loads(line)["detail"] for line in events.read_text().splitlines()]
    lines = [each for each in said if each.get("event") == "stale"]
    assert (stale["anomaly"], stale["count"]) == ("stale", len(lines))
    told = {(each["expected"], each["found"], each["partition"]) for each in lines}
    for each in stale["witnesses"]:
        read = each["state_expected"], each["state_found"], each["partition"]
        assert tuple(map(str, read)) in told


@pytest.mark.parametrize(
    ("scenario", "anomaly"),
    [
        ("kafka_14624_stale_cache", "stale"),
        ("kafka_17455_quota", "stuck"),
        ("streams_skip_after_corrupted", "lost"),
    ],
)
def test_no_bug_is_an_artefact_of_python(scenario: str, anomaly: str, tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, scenario, "--suspect", "streams_java")
    assert (verdict["verdict"], found(verdict)) == ("BROKEN", [anomaly]), verdict["reasons"]


def test_the_stale_checkpoint_is_no_artefact_of_python(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, "kafka_20685_stale_checkpoint", "--suspect", "streams_java")
    assert (verdict["verdict"], found(verdict)) == ("BROKEN", ["lost"]), verdict["reasons"]


def reproduced(version: str, broker: LocalCluster, *options: str) -> tuple[int, list[str]]:
    """The exit code of the finding's own program, and its lines: given, commit, end, restart."""
    classpath = os.pathsep.join(map(str, jars.classpath(f"streams-{version}")))
    java = find_java().executable
    ended = subprocess.run(
        [java, "-cp", classpath, str(REPRODUCTION), broker.bootstrap(), *options],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    lines = ended.stdout.splitlines()
    assert len(lines) == 4, ended.stdout + ended.stderr[-3000:]
    return ended.returncode, lines


@pytest.mark.parametrize(("version", "code"), [("4.3.1", 1), ("3.7.2", 0)])
def test_the_finding_can_be_reproduced_without_onceproof(
    version: str, code: int, one_broker: LocalCluster
) -> None:
    ended, (given, commit, at_end, restarted) = reproduced(version, one_broker)
    assert ended == code, at_end
    assert given.startswith(f"Kafka {version}, {{backlog=all, instances=1, later=0, partitions=1, ")
    assert commit.startswith("the first commit, which timed out: position {0=")
    assert commit.endswith("; seeks: []") is (code == 1), commit
    assert at_end.startswith("at the end: fed 8400, position {0=8400}, came out ")
    assert restarted.partition(": ")[2] == at_end.partition(": ")[2]


REVOCATION = (
    *("revocation=true", "instances=2", "partitions=2", "records=6000", "record_ms=4"),
    *("max.poll.interval.ms=4000", "commit.interval.ms=200", "processing.guarantee=at_least_once"),
)


@pytest.mark.parametrize(("version", "code"), [("4.3.1", 1), ("3.7.2", 0)])
def test_in_a_revocation_it_comes_with_at_least_once(
    version: str, code: int, one_broker: LocalCluster
) -> None:
    ended, (_, commit, at_end, restarted) = reproduced(version, one_broker, *REVOCATION)
    assert ended == code, at_end
    assert commit.startswith("the commit of a revocation, which timed out: position {0=")
    assert commit.endswith("; seeks: []") is (code == 1), commit
    assert at_end.startswith("at the end: fed 12000, position {0=6000, 1=6000}, came out ")
    assert restarted.partition(": ")[2] == at_end.partition(": ")[2]


def test_nor_does_it_in_a_revocation_whose_commit_is_answered(one_broker: LocalCluster) -> None:
    ended, (_, commit, at_end, _) = reproduced("4.3.1", one_broker, *REVOCATION, "planted=false")
    assert (ended, at_end.endswith(", lost 0")) == (0, True), at_end
    assert commit.startswith("the commit of a revocation: position {0=")


def test_the_finding_does_not_come_where_no_commit_fails(one_broker: LocalCluster) -> None:
    ended, (_, commit, at_end, _) = reproduced("4.3.1", one_broker, "planted=false")
    assert (ended, at_end.endswith(", lost 0")) == (0, True), at_end
    assert commit.startswith("the first commit: position {0=")


@pytest.mark.parametrize(
    "scenario",
    [
        "tc01_normal",
        "tc02_crash_loop",
        "tc03_network_timeout",
        "tc04_zombie_fencing",
        "chaos_loop",
    ],
)
def test_the_reproduction_stack_holds_with_kafka_streams(scenario: str, tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, scenario, "--suspect", "streams_exactly_once")
    assert verdict["verdict"] == "HELD", verdict["reasons"]


@pytest.mark.parametrize("workload", ALL_WORKLOADS)
@pytest.mark.parametrize("suspect", ["streams_at_least_once", "streams_java"])
def test_each_workload_runs_without_a_fault(suspect: str, workload: str, tmp_path: Path) -> None:
    words = ("tc01_normal", "--suspect", suspect, "--workload", workload, "--records", "1280")
    assert verdict_of(tmp_path, *words, "--set", "brokers=1")["verdict"] == "HELD"


def test_a_property_that_streams_refuses_is_told_in_its_own_words(tmp_path: Path) -> None:
    ended = onceproof(
        "run", "tc01_normal", "--suspect", "streams_exactly_once", "--set", "brokers=1",
        "--set", "streams.num.stream.threads=many", "--runs-dir", str(tmp_path),
    )  # fmt: skip
    assert ended.returncode == 254, ended.stderr[-3000:]
    said = "Invalid value many for configuration num.stream.threads"
    assert said in ended.stderr.splitlines()[-1]


def test_a_file_of_properties_is_streams_own_affair(tmp_path: Path) -> None:
    file = tmp_path / "app.properties"
    words = ["run", "tc01_normal", "--suspect", "streams_java", "--set", "brokers=1"]
    words += ["--streams-config", str(file), "--runs-dir", str(tmp_path)]
    file.write_text("num.stream.threads = many\n")
    refused = onceproof(*words)
    assert refused.returncode == 254, refused.stderr[-3000:]
    assert "Invalid value many for configuration num.stream.threads" in refused.stderr
    file.write_text("num.stream.threads = 2\n# swordfish\nunheard.of = swordfish\n")
    assert onceproof(*words, "--suspect", "streams_exactly_once").returncode == 0
    run = max(tmp_path.glob("tc01_normal/*"))
    assert "StreamThread-2" in (run / "logs" / "instance-0.log").read_text()
    told = [path.read_text() for path in run.glob("*.*")]
    assert not any("swordfish" in text for text in told)


def test_a_version_outside_the_lock_is_resolved_locked_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a cache of its own, so that it is asked for now, whoever asked before."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    words = ["--suspect", "streams_exactly_once", "--streams", "3.6.1", "--set", "brokers=1"]
    held = verdict_of(tmp_path, "tc01_normal", *words, "--records", "1280")
    assert held["verdict"] == "HELD", held["reasons"]
    assert held["versions"]["kafka streams"] == "3.6.1 (not in the committed lock)"
    lock = json.loads((tmp_path / "cache" / "locks" / "streams-3.6.1.json").read_text())
    names = [each.rpartition(":")[0] for each in lock["sets"]["streams-3.6.1"]]
    assert names[0] == "org.apache.kafka:kafka-streams"
    assert {"org.apache.kafka:kafka-clients", "org.rocksdb:rocksdbjni"} < set(names)
    assert all(len(facts["sha256"]) == 64 for facts in lock["artifacts"].values())


@pytest.fixture
def own_build(tmp_path: Path) -> Path:
    """As a build leaves them: all jars in one folder."""
    folder = tmp_path / "build"
    folder.mkdir()
    for jar in {*jars.classpath("streams-4.3.1"), *jars.classpath("kafka-4.3.1")}:
        shutil.copy(jar, folder)
    return folder


def test_a_build_of_ones_own_is_put_on_trial_and_named(own_build: Path, tmp_path: Path) -> None:
    words = ["--suspect", "streams_exactly_once", "--set", "brokers=1", "--records", "1280"]
    words += ["--streams-jars", str(own_build), "--kafka-jars", str(own_build)]
    held = verdict_of(tmp_path, "tc01_normal", *words)
    assert held["verdict"] == "HELD", held["reasons"]
    for part, jar in (("kafka streams", "kafka-streams-4.3.1"), ("kafka", "kafka_2.13-4.3.1")):
        assert held["versions"][part].startswith(f"4.3.1 (own jars: {jar}.jar, sha256 ")
    run = json.loads(next(tmp_path.glob("tc01_normal/*/run.json")).read_text())
    assert len(run["own_jars"]["kafka streams"]["kafka-clients-4.3.1.jar"]) == 64


@pytest.mark.parametrize("scenario", ["tc01_normal", "tc02_crash_loop"])
def test_a_build_that_cannot_start_is_not_judged(
    scenario: str, own_build: Path, tmp_path: Path
) -> None:
    """Nor is it where a fault waits for its moment meanwhile."""
    (own_build / "kafka-clients-4.3.1.jar").unlink()
    words = ["--suspect", "streams_exactly_once", "--set", "brokers=1"]
    words += ["--streams-jars", str(own_build)]
    unknown = verdict_of(tmp_path, scenario, *words)
    assert unknown["verdict"] == "UNKNOWN"
    assert "instance 0 could not be started: exit code 1; its last words: " in str(
        unknown["reasons"]
    )


def test_brokers_that_cannot_start_are_the_builds_affair(own_build: Path, tmp_path: Path) -> None:
    next(own_build.glob("metrics-core-*.jar")).unlink()
    words = ["run", "tc01_normal", "--kafka-jars", str(own_build), "--runs-dir", str(tmp_path)]
    refused = onceproof(*words)
    assert refused.returncode == 254, refused.stderr[-3000:]
    assert "--kafka-jars: no brokers of this build: " in refused.stderr
    assert onceproof(*words, "--bisect").returncode == 125
