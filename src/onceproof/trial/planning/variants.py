"""What a scenario is called after the colon: a variant of it, one with a cure, its control. Pure.

All of them are made from what its file says, before that is checked as a scenario.
"""

from collections.abc import Sequence
from typing import Any

from onceproof.errors import UsageError, unknown_name

VARIANTS = "variants"  # the table of a file that holds them
CURES = "cures"
CAUSE = "cause"
CONTROL = "control"  # the name of what every scenario with a cause has
EXPOSURE = "exposure"  # the variant with the library's defaults and a plain fault

Data = dict[str, Any]


def check_variants(data: Data) -> None:
    """As a file has them: each a table of its own."""
    found = data.get(VARIANTS, {})
    tables = found.values() if isinstance(found, dict) else [found]
    if not all(isinstance(each, dict) for each in tables):
        raise UsageError(
            f"scenario {data['name']}: `{VARIANTS}` holds a table for each; got {found!r}"
        )


def variants_of(data: Data) -> list[str]:
    """All but the cures: those are settings, not another story."""
    return [*data.get(VARIANTS, {}), *([CONTROL] if data.get(CAUSE) else [])]


def varied(data: Data, name: str) -> Data:
    """The scenario of that name; what makes it another stands instead of `data`'s own."""
    of, variants, cures = data["name"], data.get(VARIANTS, {}), data.get(CURES, {})
    plain = {key: value for key, value in data.items() if key not in (VARIANTS, CURES)}
    if name in cures:
        made = _cured(plain, cures[name])
    elif name in variants:
        made = _varied(plain, variants[name])
    elif name == CONTROL and CAUSE in data:
        made = _control(plain)
    elif known := [*variants_of(data), *cures]:
        raise unknown_name(f"variant of {of}", name, known)
    else:
        raise UsageError(f"scenario {of} has no variants; got {name!r}")
    return {**made, "name": f"{of}-{name}"}


def _varied(data: Data, changed: Data) -> Data:
    """Of the settings, the version on trial stays. Who names versions says all about them."""
    settings = data.get("settings", {})
    if "settings" in changed:
        on_trial = {name: value for name, value in settings.items() if name == data.get("axis")}
        settings = {**on_trial, **changed["settings"]}
    kept = _without(data, ("since", "fixed_in")) if "versions" in changed else data
    return {**kept, **changed, "settings": settings}


def _cured(data: Data, cure: Data) -> Data:
    """With a cure's settings besides, and what is expected then."""
    merged = {
        table: {**data.get(table, {}), **cure.get(table, {})}
        for table in ("settings", "broker_properties")
    }
    return {**data, "expect": "HELD", "expect_anomalies": (), "seen": (), **cure, **merged}


def _control(data: Data) -> Data:
    """The same without its cause, which holds on every version: what it breaks on, breaks by it."""
    cause, settings, faults = data[CAUSE], data.get("settings", {}), data.get("faults", ())
    known = {*data, *settings, *(fault.get("action") for fault in faults)}
    for name in cause:
        if name not in known:
            raise UsageError(
                f"scenario {data['name']}: {CAUSE} names {name!r}, which is neither a key or a"
                " setting of it nor an action of its faults"
            )
    kept = _without(data, (*cause, CAUSE, "also", "points", "seen", "since", "fixed_in"))
    return {
        **kept,
        "description": f"the same without its cause ({', '.join(cause)})",
        "expect": "HELD",
        "expect_anomalies": (),
        "versions": dict.fromkeys(data.get("versions", ()), "HELD"),
        "settings": _without(settings, cause),
        "faults": [fault for fault in faults if fault.get("action") not in cause],
    }


def _without(data: Data, names: Sequence[str]) -> Data:
    return {key: value for key, value in data.items() if key not in names}
