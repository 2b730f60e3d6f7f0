"""A program: a schedule as people write it for many instances, `1 2 3`. Pure.

Each number toggles the instance of that number: it is started if it does not run, and stopped
cleanly if it does. `1 2 1` starts 1, then 2, then stops 1. One step every 15 seconds, or after each
share of the input. None of them runs before the program begins.
"""

import random
from collections import Counter
from typing import Any

from onceproof.errors import UsageError
from onceproof.faults.schedule import Moment, parse_moment

RANDOM = "random"
EVERY_DEFAULT = "15 s"
INSTANCE_MAX = 16
STEPS_MAX = 40
RANDOM_INSTANCES = 3
RANDOM_STEPS = 6
Fault = dict[str, Any]


def parse_program(text: str, seed: int) -> tuple[int, ...]:
    """The instances in the order of their steps; `random` is drawn by the seed."""
    if text.strip() == RANDOM:
        return random_program(seed)
    words = text.split()
    numbers = tuple(int(word) for word in words if word.isascii() and word.isdigit())
    if not words or len(numbers) < len(words) or not all(1 <= n <= INSTANCE_MAX for n in numbers):
        raise UsageError(
            f"a program is numbers of instances from 1 to {INSTANCE_MAX}, like '1 2 3', or"
            f" {RANDOM!r}; got {text!r}"
        )
    if len(numbers) > STEPS_MAX:
        raise UsageError(f"a program has at most {STEPS_MAX} steps; got {len(numbers)}")
    if not running_after(numbers):
        raise UsageError(
            f"program {text!r} ends with no instance running: nobody would finish the work"
        )
    return numbers


def random_program(seed: int) -> tuple[int, ...]:
    die = random.Random(f"program {seed}")  # a text: not the numbers that the trial draws itself
    steps = tuple(die.randint(1, RANDOM_INSTANCES) for _ in range(RANDOM_STEPS))
    return steps if running_after(steps) else (*steps, steps[0])


def running_after(program: tuple[int, ...]) -> list[int]:
    return sorted(number for number, times in Counter(program).items() if times % 2)


def program_faults(program: tuple[int, ...], every: str) -> list[Fault]:
    """As a scenario's file would write it."""
    moment = parse_moment(every)
    if not moment.seconds and not moment.progress:
        raise UsageError(f'a program\'s steps come every "15 s" or every "10%"; got {every!r}')
    if moment.progress is not None and moment.progress * (len(program) - 1) >= 1:
        raise UsageError(
            f"a program of {len(program)} steps, one every {every}, does not end within its input"
        )
    return [
        {"action": "toggle", "target": f"instance:{number}", "at": _nth(place, moment)}
        for place, number in enumerate(program)
    ]


def _nth(place: int, every: Moment) -> str:
    if every.seconds is not None:
        return f"{place * every.seconds:g} s"
    return f"{round(place * (every.progress or 0) * 100)}%"


def feed_s_min(program: tuple[int, ...], every: str) -> float:
    """So long the input must go on for its last step to find work, and a while after it."""
    return (len(program) + 1) * (parse_moment(every).seconds or 0.0)
