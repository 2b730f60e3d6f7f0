"""One trial of a suite, held against what was expected of it. Pure."""

from dataclasses import dataclass

from onceproof.history.verdict import TrialResult, Verdict


@dataclass(frozen=True, kw_only=True)
class SuiteCase:
    """`expected` is None where nothing is known of its version."""

    title: str  # with its version, where it goes along some
    expected: Verdict | None
    expected_anomalies: tuple[str, ...] = ()  # of BROKEN; none: any
    result: TrialResult

    @property
    def is_as_expected(self) -> bool:
        """The verdict, and for a BROKEN also exactly the anomalies, if some are named."""
        verdict = self.result.verdict
        if self.expected is None:
            return verdict is not Verdict.UNKNOWN
        if verdict is not self.expected:
            return False
        named = set(self.expected_anomalies) if verdict is Verdict.BROKEN else set()
        return not named or set(self.result.anomalies) == named

    @property
    def code(self) -> int:
        """0 as expected, 1 not as expected, 2 could not be told."""
        if self.is_as_expected:
            return 0
        return 2 if self.result.verdict is Verdict.UNKNOWN else 1

    def told(self) -> str:
        is_unknown = self.result.verdict is Verdict.UNKNOWN
        noted = "; ".join(self.result.reasons) if is_unknown else ", ".join(self.result.anomalies)
        verdict = self.result.verdict.value + (f" ({noted})" if noted else "")
        if self.is_as_expected:
            return f"{verdict}, as expected" if self.expected else f"{verdict}; none was expected"
        return f"{verdict}, but expected {self.told_expected()}"

    def told_expected(self) -> str:
        if self.expected is None:
            return "a verdict"
        named = self.expected_anomalies if self.expected is Verdict.BROKEN else ()
        return " ".join([self.expected.value, *named])
