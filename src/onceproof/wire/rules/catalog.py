"""Rules by name, made of plain data as scenarios and the control channel have it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from onceproof.errors import UsageError, unknown_name
from onceproof.wire.error_answers import ANSWERABLE
from onceproof.wire.matching import Direction, Match
from onceproof.wire.rules.bandwidth import Bandwidth
from onceproof.wire.rules.delay import Delay
from onceproof.wire.rules.disconnect import Disconnect
from onceproof.wire.rules.drop import Drop
from onceproof.wire.rules.error_response import ErrorResponse
from onceproof.wire.rules.hold import Hold
from onceproof.wire.rules.loss import Loss
from onceproof.wire.rules.partition import Partition
from onceproof.wire.rules.refuse import Refuse
from onceproof.wire.rules.rule import Rule
from onceproof.wire.rules.watch import Watch

RULES: dict[str, Callable[..., Rule]] = {
    "delay": Delay,
    "loss": Loss,
    "hold": Hold,
    "drop": Drop,
    "disconnect": Disconnect,
    "refuse": Refuse,
    "error_response": ErrorResponse,
    "bandwidth": Bandwidth,
    "partition": Partition,
    "watch": Watch,
}
_NAMED = {"hold", "partition"}  # what they hold is released by their name
_MATCH_FIELDS = {each.name for each in fields(Match)}


@dataclass(frozen=True, kw_only=True)
class NamedRule:
    name: str
    kind: str
    match: Match
    rule: Rule
    times: int | None = None  # how often it acts; None: as often as something fits


def make_rule(data: Mapping[str, Any]) -> NamedRule:
    """`{"name": …, "rule": …, "match": {…}, "times": …}` and what the rule itself asks for."""
    given = dict(data)
    name, kind = str(given.pop("name", "")), str(given.pop("rule", ""))
    if not name:
        raise UsageError(f"a rule needs a name; got {dict(data)}")
    if kind not in RULES:
        raise unknown_name("rule", kind, RULES)
    match, times = _match(given.pop("match", {})), given.pop("times", None)
    _check(name, kind, match, given)
    if kind in _NAMED:
        given["name"] = name
    try:
        rule = RULES[kind](**given)
    except TypeError as error:
        raise UsageError(f"rule {name} ({kind}): {error}") from error
    return NamedRule(name=name, kind=kind, match=match, rule=rule, times=times)


def _check(name: str, kind: str, match: Match, given: Mapping[str, Any]) -> None:
    """What could be said, but not be done: it would count as applied and do nothing."""
    is_request = match.direction is Direction.REQUEST
    if kind == "error_response" and not (is_request and match.api in ANSWERABLE):
        raise UsageError(
            f"rule {name}: error_response is for a request of {', '.join(ANSWERABLE)};"
            f" got {match.api} {match.direction}"
        )
    if kind == "hold" and given.get("cut_client") and not is_request:
        raise UsageError(f"rule {name}: cut_client is for requests; got {match.direction}")


def _match(data: Mapping[str, Any]) -> Match:
    for field in data:
        if field not in _MATCH_FIELDS:
            raise unknown_name("field of a match", field, _MATCH_FIELDS)
    given = dict(data)
    if "direction" in given:
        given["direction"] = _direction(given["direction"])
    return Match(**given)


def _direction(text: str) -> Direction:
    if text not in set(Direction):
        raise unknown_name("direction", text, Direction)
    return Direction(text)
