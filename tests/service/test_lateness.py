"""What is expected of how late searches end."""

import pytest

from aleator.service.lateness import FIRST, HALF_LIFE, MOST, Lateness


def test_the_first_late_one_teaches_and_is_forgotten_slowly() -> None:
    lateness = Lateness(lambda: 0.0)
    lateness.learn(0.05)
    assert lateness.expected == 0.05
    lateness.learn(0.0)
    assert 0.04 < lateness.expected < 0.05
    for _ in range(200):
        lateness.learn(0.001)
    assert lateness.expected == pytest.approx(0.001, rel=0.01)


def test_a_search_keeps_half_of_its_time_however_late_others_were() -> None:
    lateness = Lateness(lambda: 0.0)
    lateness.learn(60.0)  # as when the machine slept
    assert lateness.expected == MOST
    assert lateness.within(0.05) == 0.025
    assert lateness.within(10.0) == MOST
    assert lateness.within(-1.0) == 0.0


def test_what_one_hiccup_taught_is_forgotten_with_time() -> None:
    now = [0.0]
    lateness = Lateness(lambda: now[0])
    lateness.learn(0.1)
    now[0] = HALF_LIFE
    assert lateness.expected == pytest.approx((0.1 + FIRST) / 2)
    lateness.learn(FIRST)
    assert FIRST < lateness.expected < (0.1 + FIRST) / 2
    now[0] += 20 * HALF_LIFE
    assert lateness.expected == pytest.approx(FIRST, rel=1e-3)
