"""The table of programs against the folder: nobody lies unseen."""

import pytest
from liars import HONEST, LIARS, SUSPECTS

from onceproof.report.anomalies import EXPLANATIONS

LINES_MAX = 80
PROGRAMS = {path.name: path for path in SUSPECTS.glob("*.py") if "__main__" in path.read_text()}


def test_every_program_of_the_folder_stands_in_the_table_and_the_other_way_round() -> None:
    assert sorted(PROGRAMS) == sorted([*HONEST, *LIARS])


@pytest.mark.parametrize("name", LIARS)
def test_a_liar_says_in_its_first_word_what_it_is_to_be_convicted_of(name: str) -> None:
    anomaly = LIARS[name].anomaly
    assert anomaly in EXPLANATIONS
    assert PROGRAMS[name].read_text().startswith(f'"""{anomaly}')


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_short_enough_to_be_read_at_a_glance(name: str) -> None:
    assert len(PROGRAMS[name].read_text().splitlines()) < LINES_MAX
