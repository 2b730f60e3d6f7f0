"""What each workload does with one record. Pure: a state is whatever keeps texts by key.

A step gets the record and the state, and returns the output's value; None: no output.
"""

import json
from collections.abc import Callable
from typing import Protocol


class State(Protocol):
    def get(self, key: str) -> str | None: ...

    def put(self, key: str, text: str) -> None: ...


class NoState:
    """Of a step that keeps none."""

    def get(self, _key: str) -> str | None:
        return None

    def put(self, key: str, text: str) -> None:
        raise LookupError(f"no state is kept; got {key!r}: {text!r}")


Step = Callable[[str, str, State], str | None]


def copy(_key: str, value: str, _state: State) -> str | None:
    return value


def fold(key: str, value: str, state: State) -> str | None:
    record = json.loads(value)
    before = json.loads(state.get(key) or '{"count": 0}')
    now = {
        "key": key,
        "count": before["count"] + 1,
        "max": max(before.get("max", record["value"]), record["value"]),
        "id": record["id"],
    }
    text = json.dumps(now)
    state.put(key, text)
    return text


def dedup(_key: str, value: str, state: State) -> str | None:
    """By id, and ids of one key only: all of them are in one partition."""
    identity = json.loads(value)["id"]
    if state.get(identity) is not None:
        return None
    state.put(identity, value)
    return value


def last(key: str, value: str, state: State) -> str | None:
    record = json.loads(value)
    kept = state.get(key)
    state.put(key, str(record["seq"]))
    return json.dumps(
        {
            "id": record["id"],
            "key": key,
            "expected": record["seq"] - 1,
            "found": -1 if kept is None else int(kept),
        }
    )


class Late:
    """A step before another: records that are not above their key's watermark are dropped.

    The watermark is what `write` puts into the state from time to time: the last seq of each key
    that came meanwhile. Output, position and state are committed together, so nothing that has not
    been written is ever late, if the state is what was committed.
    """

    def __init__(self, step: Step) -> None:
        self._step = step
        self._last: dict[str, int] = {}

    def __call__(self, key: str, value: str, state: State) -> str | None:
        seq = json.loads(value)["seq"]
        if seq <= int(state.get(key) or -1):
            return None
        self._last[key] = seq
        return self._step(key, value, state)

    def write(self, state: State) -> None:
        for key, seq in self._last.items():
            state.put(key, str(seq))
        self._last.clear()


STATEFUL = ("fold", "dedup", "last")
STEPS: dict[str, Step] = {"copy": copy, "fold": fold, "dedup": dedup, "last": last}
