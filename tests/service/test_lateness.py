"""What is expected of how late searches end."""

import pytest

from aleator.service.lateness import MOST, Lateness


def test_the_first_late_one_teaches_and_is_forgotten_slowly() -> None:
    lateness = Lateness()
    lateness.learn(0.05)
    assert lateness.expected == 0.05
    lateness.learn(0.0)
    assert 0.04 < lateness.expected < 0.05
    for _ in range(200):
        lateness.learn(0.001)
    assert lateness.expected == pytest.approx(0.001, rel=0.01)


def test_a_search_keeps_half_of_its_time_however_late_others_were() -> None:
    lateness = Lateness()
    lateness.learn(60.0)  # as when the machine slept
    assert lateness.expected == MOST
    assert lateness.within(0.05) == 0.025
    assert lateness.within(10.0) == MOST
    assert lateness.within(-1.0) == 0.0
