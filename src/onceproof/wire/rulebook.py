"""All rules in force, asked about each frame. Pure but for its counts.

    frame ──▶ fits? ──▶ the n-th? ──▶ still to act? ──▶ act ──▶ waits add up, anything else decides

Counts tell the truth about faults: `applied` is how often a rule has changed a frame's fate,
`undecoded` how often it could not be told whether a frame was meant.
"""

import random
from dataclasses import dataclass, field

from onceproof.errors import UsageError, unknown_name
from onceproof.wire.matching import Fit, Seen
from onceproof.wire.rules.catalog import NamedRule
from onceproof.wire.rules.rule import Gate, Moment
from onceproof.wire.verdict import PASS, Pass, Verdict, Wait


@dataclass(slots=True)
class Counts:
    fitted: int = 0
    applied: int = 0
    undecoded: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    verdict: Verdict
    by: tuple[str, ...] = ()  # the names of the rules that made it
    undecoded_for: tuple[str, ...] = ()  # rules that may have meant this frame


@dataclass(slots=True)
class RuleBook:
    dice: random.Random
    _rules: dict[str, NamedRule] = field(default_factory=dict)
    _counts: dict[str, Counts] = field(default_factory=dict)

    def add(self, rule: NamedRule) -> None:
        if rule.name in self._counts:
            raise UsageError(f"there is, or was, a rule {rule.name}; names are for one rule each")
        self._rules[rule.name] = rule
        self._counts[rule.name] = Counts()

    def remove(self, name: str) -> Counts:
        """Its counts stay."""
        self._rules.pop(name, None)
        return self.counts(name)

    @property
    def is_empty(self) -> bool:
        return not self._rules

    def names(self) -> list[str]:
        """Of the rules in force."""
        return list(self._rules)

    def counts(self, name: str) -> Counts:
        if name not in self._counts:
            raise unknown_name("rule", name, self._counts)
        return self._counts[name]

    def admits(self, seen: Seen) -> bool:
        """Whether a connection may be made; `seen` is a request without an api."""
        for rule in self._rules.values():
            gate = rule.rule
            if isinstance(gate, Gate) and rule.match.fits(seen) is Fit.YES and not gate.admits():
                self._counts[rule.name].applied += 1
                return False
        return True

    def rule_on(self, seen: Seen, now: float) -> Ruling:
        undecoded: list[str] = []
        proposed: list[tuple[str, Verdict]] = []
        for rule in list(self._rules.values()):
            fit = rule.match.fits(seen)
            if fit is Fit.UNKNOWN:
                self._counts[rule.name].undecoded += 1
                undecoded.append(rule.name)
            elif fit is Fit.YES:
                verdict = self._propose(rule, seen, now)
                if not isinstance(verdict, Pass):
                    proposed.append((rule.name, verdict))
        chosen = _strongest(proposed)
        for name, _ in chosen:
            self._counts[name].applied += 1
        return Ruling(
            verdict=_together([verdict for _, verdict in chosen]),
            by=tuple(name for name, _ in chosen),
            undecoded_for=tuple(undecoded),
        )

    def _propose(self, rule: NamedRule, seen: Seen, now: float) -> Verdict:
        counts = self._counts[rule.name]
        counts.fitted += 1
        occurrence = rule.match.occurrence
        if occurrence is not None and counts.fitted != occurrence:
            return PASS
        if rule.times is not None and counts.applied >= rule.times:
            return PASS
        return rule.rule.act(seen, Moment(now=now, dice=self.dice))


def _strongest(proposed: list[tuple[str, Verdict]]) -> list[tuple[str, Verdict]]:
    """All that only wait, or the first that does more."""
    more = [each for each in proposed if not isinstance(each[1], Wait)]
    return more[:1] or proposed


def _together(verdicts: list[Verdict]) -> Verdict:
    waits = [verdict.seconds for verdict in verdicts if isinstance(verdict, Wait)]
    if len(waits) < len(verdicts):
        return verdicts[0]
    return Wait(sum(waits)) if waits else PASS
