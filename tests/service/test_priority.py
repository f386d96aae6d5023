"""How threads that search step back and come forward."""

import os
import threading

import pytest

from aleator.search import StopFlag
from aleator.service import priority
from aleator.service.priority import Priorities

pytestmark = pytest.mark.skipif(
    not Priorities(1).niceness, reason="this process may not raise a priority again"
)


def now() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def test_a_thread_steps_back_for_as_long_as_it_grows_a_tree() -> None:
    priorities, search, own = Priorities(3), StopFlag(), now()
    priorities.follow(search)
    for _ in range(2):
        with priorities.step_back(search):
            assert now() == own + 3
        assert now() == own


def test_who_is_hurried_comes_forward_and_stays_so() -> None:
    priorities, search, own = Priorities(3), StopFlag(), now()
    priorities.follow(search)
    with priorities.step_back(search):
        priorities.hurry(search)
        assert now() == own
    with priorities.step_back(search):
        assert now() == own


def test_all_threads_of_a_search_come_forward_and_those_of_others_do_not() -> None:
    priorities, search, other = Priorities(3), StopFlag(), StopFlag()
    own = now()
    found: list[list[int]] = []
    ready, hurried = threading.Barrier(4), threading.Barrier(4)

    def grow(stop: StopFlag) -> None:
        with priorities.step_back(stop):
            before = now()
            ready.wait()
            hurried.wait()
            found.append([before, now()])

    priorities.follow(search)
    priorities.follow(other)
    threads = [threading.Thread(target=grow, args=[stop]) for stop in (search, search, other)]
    for thread in threads:
        thread.start()
    ready.wait()
    priorities.hurry(search)
    hurried.wait()
    for thread in threads:
        thread.join()
    assert sorted(found) == [[own + 3, own]] * 2 + [[own + 3, own + 3]]


def test_searches_that_are_not_followed_are_left_alone() -> None:
    priorities, search, own = Priorities(3), StopFlag(), now()
    priorities.hurry(search)
    with priorities.step_back(search):
        assert now() == own
    priorities.follow(search)
    priorities.forget(search)
    with priorities.step_back(search):
        assert now() == own


def test_nothing_steps_back_where_it_could_not_come_forward(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    change, own = os.setpriority, now()

    def only_lower(which: int, who: int, niceness: int) -> None:
        if niceness <= own:
            raise PermissionError
        change(which, who, niceness)

    monkeypatch.setattr(priority.os, "setpriority", only_lower)
    priorities, search = Priorities(3), StopFlag()
    assert priorities.niceness == 0
    priorities.follow(search)
    with priorities.step_back(search):
        assert now() == own
    priorities.hurry(search)
