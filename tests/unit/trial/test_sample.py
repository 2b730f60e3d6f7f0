"""How far a run is, with and without a position that can be read."""

from onceproof.trial.watch import Sample

INPUT = {0: 10, 1: 20}


def test_with_a_position_it_alone_tells_how_far_the_suspect_is() -> None:
    sample = Sample(input=INPUT, output={0: 99}, position={0: 10, 1: 5})
    assert (sample.processed, sample.remaining, sample.caught_up()) == (15, 15, False)


def test_a_suspect_is_caught_up_only_when_every_partition_is() -> None:
    assert not Sample(input=INPUT, position={0: 30}).caught_up()
    assert Sample(input=INPUT, position={0: 10, 1: 20}).caught_up()


def test_without_a_position_the_output_tells_progress_but_never_that_all_is_done() -> None:
    sample = Sample(input=INPUT, output={0: 12}, position=None)
    assert (sample.processed, sample.remaining, sample.caught_up()) == (12, 0, False)
    assert Sample(input=INPUT, output={0: 500}, position=None).processed == 30


def test_without_a_position_and_without_output_everything_remains() -> None:
    assert Sample(input=INPUT, output={0: 0}, position=None).remaining == 30
