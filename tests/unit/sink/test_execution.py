"""What Spark says of a failed job: whether the sink, or the query, is to blame."""

from typing import ClassVar

import pytest
from pyspark.errors import PySparkException

from onceproof.sink import errors
from onceproof.sink.errors import LaneError
from onceproof.sink.execution import failures_told_apart, speculates

TRANSIENT = [
    kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, LaneError)
]


@pytest.mark.parametrize("kind", TRANSIENT)
def test_a_failed_lane_is_worth_another_pass_whatever_kind_of_one(kind: type[LaneError]) -> None:
    told = f"PythonException: {kind.__module__}.{kind.__qualname__}: no answer"
    with pytest.raises(LaneError, match="no answer"), failures_told_apart():
        raise PySparkException(told)


def test_every_kind_of_a_failed_lane_stands_among_the_errors() -> None:
    """Where Spark tells of it, it is known by its name alone."""
    assert {kind.__name__ for kind in LaneError.__subclasses__()} < {
        kind.__name__ for kind in TRANSIENT
    }


@pytest.mark.parametrize(
    ("said", "means"), [("true", True), ("True", True), ("TRUE", True), ("false", False)]
)
def test_spark_may_be_told_to_speculate_in_any_letters(said: str, *, means: bool) -> None:
    class Session:
        conf: ClassVar = {"spark.speculation": said}

    assert speculates(Session()) is means  # type: ignore[arg-type]


def test_a_failure_of_the_query_itself_is_not() -> None:
    with pytest.raises(PySparkException, match="division by zero"), failures_told_apart():
        raise PySparkException("PythonException: ZeroDivisionError: division by zero")
