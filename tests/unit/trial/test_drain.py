"""When nothing moves: with work left it is a standstill, whether or not more is being fed."""

from onceproof.trial.drain import Standstill
from onceproof.trial.watch import Sample

LIMIT_S = 10.0


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def at(position: int | None, *, fed: int = 100, written: int = 50) -> Sample:
    known = None if position is None else {0: position}
    return Sample(input={0: fed}, output={0: written}, position=known)


def lasting(*samples: tuple[float, Sample], is_fed: bool, up: int = 1) -> bool:
    clock = Clock()
    standstill = Standstill(LIMIT_S, clock)
    for clock.now_s, sample in samples:
        lasts = standstill.lasts(sample, up, is_fed=is_fed)
    return lasts


def test_nothing_moves_and_something_is_left() -> None:
    for is_fed in (True, False):
        assert not lasting((1, at(40)), (10.9, at(40)), is_fed=is_fed)
        assert lasting((1, at(40)), (5, at(40)), (11, at(40)), is_fed=is_fed)


def test_more_input_is_no_movement_of_the_suspect() -> None:
    assert lasting((1, at(40)), (11, at(40, fed=200)), is_fed=False)


def test_whatever_it_does_is() -> None:
    assert not lasting((1, at(40)), (11, at(41)), is_fed=False)
    assert not lasting((1, at(40)), (11, at(40, written=51)), is_fed=False)


def test_another_instance_that_is_up_is_given_its_time() -> None:
    clock = Clock()
    standstill = Standstill(LIMIT_S, clock)
    assert not standstill.lasts(at(40), 1, is_fed=True)
    clock.now_s = 12
    assert not standstill.lasts(at(40), 2, is_fed=True)


def test_who_has_nothing_left_to_do_waits_for_more() -> None:
    idle = at(100)
    assert not lasting((1, idle), (30, idle), (39, at(100, fed=200)), is_fed=False)
    assert lasting((1, idle), (30, idle), (40, at(100, fed=200)), is_fed=False)


def test_of_one_without_a_position_nothing_is_known_until_all_is_fed() -> None:
    assert not lasting((1, at(None)), (30, at(None)), is_fed=False)
    assert lasting((1, at(None)), (30, at(None)), is_fed=True)
