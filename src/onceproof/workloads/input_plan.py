"""How much input there is, over how many keys, from which seed. Pure numbers, no Spark."""

from dataclasses import dataclass

from onceproof.errors import UsageError

RECORDS_DEFAULT = 6_400
KEYS_MIN = 64
KEYS_MAX = 1_000_000
RECORDS_PER_KEY = 100


@dataclass(frozen=True, kw_only=True)
class InputPlan:
    """Record i of the plan belongs to key i mod keys, at place i div keys of that key."""

    seed: int
    records: int = RECORDS_DEFAULT
    keys: int

    @staticmethod
    def of(*, seed: int, records: int = RECORDS_DEFAULT, keys: int | None = None) -> "InputPlan":
        """A plan with the number of keys that suits the number of records, unless it is given."""
        if records < 1:
            raise UsageError(f"records must be at least 1; got {records}")
        if keys is not None and keys < 1:
            raise UsageError(f"keys must be at least 1; got {keys}")
        return InputPlan(seed=seed, records=records, keys=keys or keys_for(records))


def keys_for(records: int) -> int:
    wanted = min(KEYS_MAX, max(KEYS_MIN, records // RECORDS_PER_KEY))
    return min(records, wanted)
