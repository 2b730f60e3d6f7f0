"""What may become of a Java setting. Each class is one answer; table.py gives one to every name."""

from collections.abc import Callable
from dataclasses import dataclass

from onceproof.sink.errors import SinkError


def unchanged(value: str, _option: str) -> str:
    return value


@dataclass(frozen=True, kw_only=True)
class Passed:
    """Goes on to librdkafka; `to` is its name there (None: the same), `change` its unit there."""

    to: str | None = None
    change: Callable[[str, str], str] = unchanged


@dataclass(frozen=True, kw_only=True)
class Ignored:
    """Has nothing to act on here, and nothing is lost without it: logged, not passed on."""

    why: str


@dataclass(frozen=True, kw_only=True)
class Refused:
    """Would change what the user gets. `why` holds the way out; values in `unless` do no harm."""

    why: str
    unless: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Owned:
    """Set by the sink itself: a user's value would break the protocol, but for one that agrees."""

    always: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Together:
    """Decided with its companions, by the module named."""

    decided_in: str


Fate = Passed | Ignored | Refused | Owned | Together


def refusal(option: str, why: str) -> SinkError:
    return SinkError(f"option 'kafka.{option}' cannot be used: {why}")


def whole_number(value: str, option: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise SinkError(f"option 'kafka.{option}' must be a whole number; got {value!r}") from None


def bytes_in_kilobytes(value: str, option: str) -> str:
    return str(max(1, whole_number(value, option) // 1024))


def negative_is_zero(value: str, option: str) -> str:
    """Java says "off" or "as the system has it" by a negative number, librdkafka by 0."""
    return str(max(0, whole_number(value, option)))


def at_least_one(value: str, option: str) -> str:
    return str(max(1, whole_number(value, option)))


def empty_is_none(value: str, _option: str) -> str:
    return value.strip() or "none"
