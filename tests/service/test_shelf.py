"""The memory of the trees that bots keep between their moves."""

from aleator.search import Engine, Limits, Position, Trees
from aleator.service.shelf import Shelf


def searched(trees: Trees, seed: int) -> Trees:
    Engine().suggest(
        Position.create("generator", seed=1), limits=Limits(simulations=100), seed=seed, trees=trees
    )
    return trees


def test_what_was_kept_longest_is_forgotten_first() -> None:
    sizes = [searched(Trees(), seed).footprint for seed in range(4)]
    shelf = Shelf(sizes[0] + sizes[1] + sizes[2])
    kept = [searched(Trees(), seed) for seed in range(3)]
    for trees in kept:
        shelf.put(trees)
    assert shelf.footprint == sum(sizes[:3])
    shelf.put(searched(kept[0], 0))  # it is the newest now
    shelf.put(searched(Trees(), 3))  # of a game that ends at once
    assert [trees.footprint > 0 for trees in kept] == [True, False, True]
    assert shelf.footprint == sizes[0] + sizes[2]


def test_trees_in_use_take_no_room_on_the_shelf() -> None:
    size = searched(Trees(), 0).footprint
    shelf = Shelf(size)
    one, other = searched(Trees(), 0), searched(Trees(), 0)
    shelf.put(one)
    taken = one.take()
    shelf.put(other)
    assert taken.footprint == other.footprint == size


def test_what_no_search_can_go_on_from_pushes_nothing_out() -> None:
    size = searched(Trees(), 0).footprint
    shelf = Shelf(size)
    kept = searched(Trees(), 0)
    shelf.put(kept)
    for game in ("riviera", "roygbiv"):
        trees = Trees()
        position = Position.create(game, seed=1)
        seat = position.seats_to_act[0]
        Engine().suggest(position, seat, Limits(simulations=1000), seed=1, trees=trees)
        assert trees.footprint == 0
        shelf.put(trees)
    assert kept.footprint == size


def test_without_memory_nothing_is_kept() -> None:
    trees = searched(Trees(), 0)
    Shelf(0).put(trees)
    assert trees.footprint == 0
