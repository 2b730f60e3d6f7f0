"""A scenario as text: the file that `onceproof run` takes, and a test to paste that carries it.

Whatever is written here is read again as the same scenario. Defaults are left out, but for those
that another version of onceproof may have changed.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from onceproof.trial.planning.scenario import Scenario

ALWAYS = ("records", "kafka")
TABLES = ("also", "versions", "settings", "broker_properties")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_TRIPLE = '"""'

_TEST = '''\
"""The fewest faults that break it. A race decides each run, so it gets a few tries."""

import json
import subprocess
import sys

OPTIONS = {options}
ANOMALIES = {anomalies}
TRIES = {tries}
SCENARIO = {scenario}


def test_the_smallest_schedule_still_breaks(tmp_path):
    scenario = tmp_path / "shrunk.toml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    runs = tmp_path / "runs"
    command = [sys.executable, "-m", "onceproof", "run", str(scenario), "--runs-dir", str(runs)]
    for _ in range(TRIES):
        code = subprocess.run([*command, *OPTIONS], check=False).returncode
        if code == 1:
            break
    assert code == 1, "BROKEN is exit code 1"
    verdict = json.loads((runs / "latest" / "verdict.json").read_text(encoding="utf-8"))
    assert ANOMALIES & {{finding["anomaly"] for finding in verdict["findings"]}}
'''


def to_toml(scenario: Scenario) -> str:
    """The scenario's file, its keys in the order of the model."""
    given = scenario.model_dump(exclude_defaults=True)
    data = {
        name: value
        for name, value in scenario.model_dump().items()
        if name in given or name in ALWAYS
    }
    faults = data.pop("faults", ())
    tables = {name: data.pop(name) for name in TABLES if name in data}
    blocks = [_lines(data)]
    blocks += [f"[{name}]\n{_lines(table)}" for name, table in tables.items()]
    blocks += [f"[[faults]]\n{_lines(fault)}" for fault in faults]
    return "\n".join(blocks)


def pasteable_test(
    toml: str, options: Sequence[str], *, anomalies: Sequence[str], tries: int
) -> str:
    """A test module of its own: it needs pytest, and onceproof where it runs."""
    return _TEST.format(
        options=_python_list(options),
        anomalies="{" + ", ".join(map(_python, sorted(anomalies))) + "}",
        tries=tries,
        scenario=_python_block(toml),
    )


def _lines(table: Mapping[str, Any]) -> str:
    return "".join(f"{_key(name)} = {_value(value)}\n" for name, value in table.items())


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _text(name)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return (
            "{ "
            + ", ".join(f"{_key(name)} = {_value(each)}" for name, each in value.items())
            + " }"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return _text(str(value))


def _text(text: str) -> str:
    """JSON's escapes are TOML's; DEL alone is allowed raw in the one and not in the other."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _python_list(texts: Sequence[str]) -> str:
    return "[" + ", ".join(map(_python, texts)) + "]"


def _python(text: str) -> str:
    """As formatters like it; JSON's escapes are Python's."""
    return json.dumps(text, ensure_ascii=True) if text.isascii() else repr(text)


def _python_block(text: str) -> str:
    """As it stands, between triple quotes, wherever Python would read it back as it is."""
    plain = "\\" not in text and _TRIPLE not in text and not text.endswith('"')
    if plain and all(each.isprintable() or each == "\n" for each in text):
        return f"{_TRIPLE}\\\n{text}{_TRIPLE}"
    return repr(text)
