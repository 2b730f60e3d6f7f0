"""How the number of keys follows from the number of records."""

import pytest

from onceproof.errors import UsageError
from onceproof.workloads.input_plan import InputPlan, keys_for


@pytest.mark.parametrize(
    ("records", "keys"),
    [
        (1, 1),
        (63, 63),
        (6_400, 64),
        (6_500, 65),
        (1_000_000, 10_000),
        (10**8, 10**6),
        (10**9, 10**6),
    ],
)
def test_keys_grow_with_the_records_up_to_a_million(records: int, keys: int) -> None:
    assert keys_for(records) == keys
    assert InputPlan.of(seed=1, records=records).keys == keys


def test_the_default_plan_is_6400_records_over_64_keys() -> None:
    assert InputPlan.of(seed=1) == InputPlan(seed=1, records=6_400, keys=64)


@pytest.mark.parametrize(("records", "keys"), [(0, None), (-1, 3), (5, 0)])
def test_a_plan_without_records_or_keys_is_refused(records: int, keys: int | None) -> None:
    with pytest.raises(UsageError, match="must be at least 1; got"):
        InputPlan.of(seed=1, records=records, keys=keys)
