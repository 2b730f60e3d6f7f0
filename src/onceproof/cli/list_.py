"""`onceproof list`: what there is, without starting anything."""

import tomllib
from pathlib import Path

import typer

from onceproof.cli.printing import say, say_json
from onceproof.errors import unknown_name

Table = dict[str, str]


def list_names(
    kind: str | None = typer.Argument(None, help="scenarios, suspects, workloads, faults, checks"),
    as_json: bool = typer.Option(False, "--json", help="As JSON."),
) -> int:
    """List scenarios, suspects, workloads, faults and checks."""
    tables = {
        "scenarios": _scenarios,
        "suspects": _suspects,
        "workloads": _workloads,
        "faults": _faults,
        "checks": _checks,
    }
    if kind is not None and kind not in tables:
        raise unknown_name("kind", kind, tables)
    shown = {name: table() for name, table in tables.items() if kind in (None, name)}
    if as_json:
        say_json(shown)
        return 0
    for name, table in shown.items():
        say(name)
        width = max(len(entry) for entry in table)
        for entry, description in table.items():
            say(f"  {entry:{width}}  {description}")
    return 0


def _scenarios() -> Table:
    """Read without the scenario model: this must answer at once."""
    import onceproof.scenarios

    folder = Path(onceproof.scenarios.__file__).parent
    shown: Table = {}
    for path in sorted(folder.glob("*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        shown[path.stem] = data["description"]
        for name in data.get("cures", {}):
            shown[f"{path.stem}:{name}"] = "the same with this cure"
        for name, variant in data.get("variants", {}).items():
            shown[f"{path.stem}:{name}"] = variant["description"]
        if "cause" in data:
            shown[f"{path.stem}:control"] = "the same without its cause: HELD on every version"
    return shown


def _suspects() -> Table:
    from onceproof.suspects.catalog import SUSPECTS

    return {
        name: f"{suspect.description} (claims {suspect.guarantee or 'nothing known'};"
        f" runs {', '.join(suspect.workloads)})"
        for name, suspect in SUSPECTS.items()
    }


def _workloads() -> Table:
    from onceproof.workloads.catalog import WORKLOADS

    return {name: workload.description for name, workload in WORKLOADS.items()}


def _faults() -> Table:
    from onceproof.faults.catalog import ACTIONS, TARGETS

    told = {name: action.told for name, action in ACTIONS.items()}
    return told | {f"on {name}": description for name, description in TARGETS.items()}


def _checks() -> Table:
    from onceproof.checks.catalog import CHECKS

    return {name: check.description for name, check in CHECKS.items()}
