"""The documents speak of what is there: each anomaly, scenario, link and command."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from onceproof.checks.catalog import CHECKS
from onceproof.cli.main import app, main
from onceproof.errors import UsageError
from onceproof.faults.schedule import FIELDS
from onceproof.report.anomalies import EXPLANATIONS
from onceproof.suspects.suspect import Suspect
from onceproof.trial.judging.points import POINTS
from onceproof.trial.planning.scenario import SETTABLE, Scenario, load_scenario, scenario_names

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_each_anomaly_is_explained_in_reading_a_report() -> None:
    text = (ROOT / "docs" / "reading_a_report.md").read_text()
    assert [name for name in CHECKS if f"`{name}`" not in text and f"## {name}" not in text] == []


def test_each_anomaly_has_its_line_in_reports() -> None:
    assert set(EXPLANATIONS) == set(CHECKS)


def test_each_field_of_a_suspect_is_explained() -> None:
    text = (ROOT / "docs" / "extending" / "suspect.md").read_text()
    names = {field.name for field in fields(Suspect)} - {"name", "description"}
    assert sorted(name for name in names if f"`{name}`" not in text) == []


def test_each_scenario_is_in_the_changelog() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    assert [name for name in scenario_names() if f"`{name}`" not in text] == []


def test_each_key_of_a_scenario_is_explained() -> None:
    text = (ROOT / "docs" / "extending" / "scenario.md").read_text()
    tables = {"faults", "versions", "cures"}  # written as tables, not as keys
    keys = {*Scenario.model_fields, *FIELDS, *POINTS, *SETTABLE} - tables
    assert sorted(key for key in keys if f"`{key}`" not in text) == []


def test_the_scenario_that_is_shown_is_one(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "extending" / "scenario.md").read_text()
    (shown,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    file = tmp_path / "my_case.toml"
    file.write_text(shown)
    steps = load_scenario(str(file)).schedule()
    assert [step.actions for step in steps] == [("slow",), ("kill",)]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", document.read_text())
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (document.parent / link).exists()] == []


def test_the_commands_in_the_readme_exist() -> None:
    text = (ROOT / "README.md").read_text()
    blocks = "".join(re.findall(r"```\n(.*?)```", text, re.S))
    shown = set(re.findall(r"onceproof ([a-z]+)", blocks))
    known = {str(command.name) for command in app.registered_commands} | {"cluster"}
    assert shown == known


def test_scenarios_named_in_the_documents_are_shipped() -> None:
    for document in DOCUMENTS:
        for name in re.findall(r"onceproof run ([a-z]+\d*_\w+)\b(?!\.toml)", document.read_text()):
            load_scenario(name)


def test_make_prints_its_own_help_for_every_target() -> None:
    text = (ROOT / "Makefile").read_text()
    for target in ("setup", "fmt", "lint", "types", "postgres", "unit", "test", "jury", "bench"):
        assert re.search(rf"^{target}:.*##", text, re.M), target


def test_an_unknown_scenario_is_an_error_of_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite", "nope"]) == UsageError.exit_code
    assert "unknown scenario" in capsys.readouterr().err
