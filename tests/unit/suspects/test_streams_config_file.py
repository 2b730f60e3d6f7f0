"""The user's own properties file: which names it may have, and that its values stay in it."""

import json
import re
from pathlib import Path

import pytest

from onceproof.errors import UsageError
from onceproof.suspects.java.__main__ import streams_arguments
from onceproof.suspects.streams.config_file import OURS
from onceproof.trial.planning.plan import make_plan
from onceproof.trial.planning.request import Request


def planned(file: Path, **more: str) -> Request:
    return Request(suspect="streams_exactly_once", streams_config=file, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [*OURS, "producer.bootstrap.servers", "main.consumer.client.id"])
def test_what_the_trial_rests_on_is_refused_by_name(name: str, tmp_path: Path) -> None:
    file = tmp_path / "own.properties"
    file.write_text(f"num.stream.threads=2\n{name}=mine\n")
    with pytest.raises(UsageError, match=re.escape(f"{file}: {name} is set by the trial")):
        make_plan(planned(file))
    with pytest.raises(UsageError, match=re.escape(f"--set: {name} is set by the trial")):
        make_plan(Request(suspect="streams_java", settings=(f"streams.{name}=mine",)))


def test_only_names_are_looked_at_as_java_reads_them(tmp_path: Path) -> None:
    file = tmp_path / "own.properties"
    file.write_text("# state.dir=x\nsasl.jaas.config=one \\\n  bootstrap.servers=in a value\n")
    make_plan(planned(file))
    file.write_text("st\\u0061te.dir : /elsewhere\n")
    with pytest.raises(UsageError, match=r"state\.dir is set by the trial"):
        make_plan(planned(file))


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--streams-config .* cannot be read: No such file"):
        make_plan(planned(tmp_path / "none"))
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="cannot be read: it is not UTF-8 text"):
        make_plan(planned(tmp_path / "binary"))


def test_its_values_stand_neither_in_the_plan_nor_in_arguments(tmp_path: Path) -> None:
    file = tmp_path / "own.properties"
    file.write_text("sasl.jaas.config=password is swordfish\n")
    plan = make_plan(planned(file))
    assert plan.settings["streams_config"] == str(file)
    assert f"--streams-config {file}" in plan.repeat
    given = {
        f"ONCEPROOF_{name}": name.lower()
        for name in (
            *("APP_ID", "INSTANCE", "BOOTSTRAP_SERVERS", "STATE_DIR", "TRANSACTION_TIMEOUT_MS"),
            *("WORKLOAD", "INPUT_TOPIC", "OUTPUT_TOPIC"),
        )
    }
    settings = {**plan.settings, "guarantee": "exactly_once_v2", "streams.acks": "all"}
    words = streams_arguments(settings, given)
    assert words[-2:] == [f"@{file}", "acks=all"]
    assert "swordfish" not in json.dumps([*words, dict(plan.settings)])
