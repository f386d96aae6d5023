"""The engine: from a position, a seat and limits to an analysis.

It reduces the position to what the seat may know before anything else, grows
one search tree per thread from independent random streams (root parallelism),
merges the statistics of the trees' roots, and orders the candidates: the robust
child, by a lower confidence bound, and as far as there were few simulations by the game's
look at the moves. Where seats choose in secret and the game wants a mixed strategy, that is
the answer, and the move is drawn from it. The last plies of a game without luck or
secrets are solved instead.

Sources: G. Chaslot, M. Winands, J. van den Herik, "Parallel Monte-Carlo tree
search", CG (2008), for root parallelism; the lower bound as in D. Wu's KataGo;
S. Ganzfried, T. Sandholm, K. Waugh, "Strategy purification and thresholding",
AAMAS (2012), for leaving the rarest moves out of a mixed strategy.

Limits: standard errors say how much an answer would differ with another seed, and that a
mean still moves while the tree learns; not what a game's evaluation has wrong.
"""

import math
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache

from aleator.ext.core.search import Search, StopFlag, merge_roots
from aleator.ext.core.searches import new_search
from aleator.ext.core.solver import Solver
from aleator.search.analysis import (
    Analysis,
    Candidate,
    Estimate,
    Report,
    Statistics,
    StopReason,
)
from aleator.search.errors import InvalidInput
from aleator.search.limits import Limits
from aleator.search.position import Move, Position, pick_seed
from aleator.search.strength import Strength
from aleator.search.trees import Trees

DEFAULT_TIME = 1.0  # seconds, of a search without limits
DEFAULT_MEMORY = 256 * 2**20
UNLIMITED = 2**63 - 1
BYTES_A_SIMULATION = 4096  # more than a tree grows by; reserving less is quicker
CONFIDENCE = 1.96  # standard errors of a two-sided 95% bound
SOLVED_POSITIONS = 60_000  # the most to solve, a few milliseconds
SOLVED_A_SIMULATION = 16  # and for each simulation that the search may make
SOLVED_TIME = 0.3  # share of the time after which solving is given up
MAX_HELPERS = 4096  # threads beyond the callers' own, over all searches of the process
RARE = 0.05  # of the weight of a mixed strategy's first move: less is noise, and left out
ROBUST_SHARE = 0.25  # of the most visits, that a candidate needs to be best by its bound
LOOKS = 16  # in what part of the time left to see whether the best move is decided
FASTER = 1.25  # simulations may get quicker by this
VARIATION_CANDIDATES = 10  # the best so many candidates get a principal variation
VARIATION_LENGTH = 12


@cache
def _helpers(process: int) -> ThreadPoolExecutor:
    """The threads of this process for searches that have more than their caller's.

    Idle ones are kept, as starting one takes as long as a hundred simulations; more are started
    while all are busy. A fork has none of them, hence the process's number.
    """
    return ThreadPoolExecutor(MAX_HELPERS, thread_name_prefix=f"search-{process}")


class Engine:
    """Finds moves by search; safe to use from several threads at once.

    Parameters
    ----------
    memory : int
        Cap of the trees of one search, in bytes, shared by its threads.
    knowledge : bool
        Whether to use what the games know about good play: their priors, evaluation
        and tuning. Without it all moves are alike, and playouts uniformly random.
    tuning : mapping, optional
        Parameters of the search that differ from the game's, as `Tuning` in
        `ext/core/game.pxd` has them: for measuring what they are worth.
    growing : callable, optional
        Gives the context in which a thread grows a tree of the search that has a stop flag.

    Raises
    ------
    InvalidInput
        If the memory is less than a megabyte.
    """

    def __init__(
        self,
        *,
        memory: int = DEFAULT_MEMORY,
        knowledge: bool = True,
        tuning: Mapping[str, float] | None = None,
        growing: Callable[[StopFlag], AbstractContextManager[None]] | None = None,
    ) -> None:
        if memory < 2**20:
            raise InvalidInput.at("memory", f"must be at least {2**20} bytes, not {memory}")
        self.memory = memory
        self.knowledge = knowledge
        self.tuning = {} if tuning is None else dict(tuning)
        self.growing = growing or nullcontext
        self._running: set[StopFlag] = set()
        self._lock = threading.Lock()

    def suggest(
        self,
        position: Position,
        seat: int | None = None,
        limits: Limits | None = None,
        *,
        seed: int | None = None,
        strength: Strength | None = None,
        allowed: Sequence[Move] | None = None,
        avoided: Sequence[Move] | None = None,
        candidates: int | None = None,
        stop: StopFlag | None = None,
        until_decided: bool = False,
        trees: Trees | None = None,
    ) -> Analysis:
        """Search until a limit is reached and say what to play.

        Parameters
        ----------
        position : Position
            A state or an observation that shows the seat's own hand. What the
            seat cannot know is dropped first and never influences the answer.
        seat : int, optional
            The seat to find a move for; may be left out when one seat is to act.
        limits : Limits, optional
            By default `DEFAULT_TIME` seconds on one thread.
        seed : int, optional
            0..2^64-1. Equal seeds, simulation limits and thread counts give equal
            answers; by default one is drawn, and told in the statistics.
        strength : Strength, optional
            By default everything within the limits.
        allowed, avoided : sequence of Move, optional
            Choose among these moves only; never choose these.
        candidates : int, optional
            At least 1, how many of the best candidates to list; by default all.
        stop : StopFlag, optional
            Set it from any thread to end the search early.
        until_decided : bool
            Whether to end it, too, when the time that is left cannot change the best move,
            at the pace so far.
        trees : Trees, optional
            What the seat's last search in this game left, if that was answered with the move that
            was played. This one goes on from what fits, and leaves its own trees there. Levels
            below the strongest do not: their strength is that of searches from scratch.

        Raises
        ------
        GameFinished, SeatNotToAct, SeatRequired, HandHidden
            If the seat has no move to choose.
        InvalidInput
            For a bad seat or seed, an Elo out of the game's range, and if `allowed` and
            `avoided` leave no move.
        """
        task = _Task(
            self,
            _Wish(position, seat, limits, seed, strength, allowed, avoided, candidates, stop),
            trees,
        )
        with self._registered(task):
            solution = task.solve()
            if solution is not None:
                return solution
            if until_decided:
                task.grow_until_decided()
            else:
                task.grow(UNLIMITED)
        analysis = task.report().analysis
        task.leave_trees(analysis.best_move)
        return analysis

    def evaluate(
        self,
        position: Position,
        move: Move,
        limits: Limits | None = None,
        *,
        seed: int | None = None,
        stop: StopFlag | None = None,
    ) -> Estimate:
        """Estimate what a move is worth by a search of its own.

        `suggest` looks little at moves that it thinks weak, and so finds few of the
        answers to them: here all moves are looked at equally hard.

        Parameters
        ----------
        position, limits, seed, stop
            As for `suggest`.
        move : Move
            A legal move of a seat that is to act.
        """
        wish = _Wish(position, move.seat, limits, seed, allowed=[move], stop=stop, even_one=True)
        task = _Task(self, wish)
        with self._registered(task):
            analysis = task.solve()
            if analysis is None:
                task.grow(UNLIMITED)
                analysis = task.report().analysis
        assert analysis.estimate is not None
        return analysis.estimate

    def analyze(
        self,
        position: Position,
        seat: int | None = None,
        limits: Limits | None = None,
        *,
        interval: float = 0.5,
        seed: int | None = None,
        strength: Strength | None = None,
        allowed: Sequence[Move] | None = None,
        avoided: Sequence[Move] | None = None,
        candidates: int | None = None,
        stop: StopFlag | None = None,
    ) -> Iterator[Report]:
        """Search as `suggest` does and report every `interval` seconds.

        Yields
        ------
        Report
            Each complete; the last one, and only it, is marked final. Reports
            taken on the way do not change the final one of a search limited by
            simulations.

        Raises
        ------
        InvalidInput
            As `suggest`, and if the interval is not positive.
        """
        if not interval > 0:
            raise InvalidInput.at("interval", f"must be positive, not {interval}")
        task = _Task(
            self,
            _Wish(position, seat, limits, seed, strength, allowed, avoided, candidates, stop),
        )
        return self._reports(task, interval)

    def _reports(self, task: "_Task", interval: float) -> Iterator[Report]:
        step = round(interval * 1e9)
        with self._registered(task):
            solution = task.solve()
            if solution is not None:
                yield Report(analysis=solution, final=True)
                return
            while True:
                task.grow(time.monotonic_ns() + step)
                report = task.report()
                yield report
                if report.final:
                    return

    def stop(self) -> None:
        """End all running searches of this engine; they return what they have."""
        with self._lock:
            for flag in self._running:
                flag.set()

    @contextmanager
    def _registered(self, task: "_Task") -> Iterator[None]:
        """Make the task's stop flag known to `stop` while the search runs."""
        with self._lock:
            self._running.add(task.stop)
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(task.stop)


def codes_to_choose(
    position: Position,
    seat: int,
    allowed: Sequence[Move] | None = None,
    avoided: Sequence[Move] | None = None,
) -> list[int]:
    """List the codes of the legal moves of a seat that may be suggested; there is at least one.

    Raises
    ------
    InvalidInput
        If `allowed` and `avoided` leave no move.
    """
    codes = position.codec.rules.legal_moves(position.state, seat)
    if allowed is not None:
        wanted = {move.code for move in allowed}
        codes = [code for code in codes if code in wanted]
    if avoided is not None:
        unwanted = {move.code for move in avoided}
        codes = [code for code in codes if code not in unwanted]
    if not codes:
        raise InvalidInput.at(
            "avoided_moves" if avoided else "allowed_moves", "leaves no legal move to choose"
        )
    return codes


@dataclass
class _Merged:
    """The root statistics of one move, summed over the trees."""

    visits: int
    shares: list[float]
    scores: list[float]
    error: float  # the standard error of the seat's win share
    strategy: float  # weight in a mixed strategy; 0 for a pure one
    search: Search  # the tree with most visits of the move
    behind: float  # the win share by which the look, before all search, puts it behind the best
    trust: float  # in that look, the rest being in the simulations


@dataclass(frozen=True, slots=True)
class _Wish:
    """What is wanted of a search, as `Engine.suggest` describes it."""

    position: Position
    seat: int | None
    limits: Limits | None
    seed: int | None = None
    strength: Strength | None = None
    allowed: Sequence[Move] | None = None
    avoided: Sequence[Move] | None = None
    candidates: int | None = None
    stop: StopFlag | None = None
    even_one: bool = False  # whether to search where there is only one move


class _Task:
    """One search: its trees, what is left to do, and how to report on them."""

    def __init__(self, engine: Engine, wish: _Wish, trees: Trees | None = None) -> None:
        self.start = time.monotonic_ns()
        self.growing = engine.growing
        self.seat = wish.position.acting_seat(wish.seat)
        self.position = wish.position.observe(self.seat)
        self.codes = codes_to_choose(self.position, self.seat, wish.allowed, wish.avoided)
        self.candidates = wish.candidates
        if self.candidates is not None and self.candidates < 1:
            raise InvalidInput.at("candidates", f"must be at least 1, not {self.candidates}")
        limits = wish.limits or Limits()
        seconds = limits.time
        if seconds is None and limits.simulations is None:
            seconds = DEFAULT_TIME
        self.deadline = UNLIMITED if seconds is None else self.start + round(seconds * 1e9)
        settings = (wish.strength or Strength()).settings(self.position.game)
        self.margin = settings.margin
        caps = [limits.simulations, settings.simulations]
        self.simulations = min((cap for cap in caps if cap is not None), default=UNLIMITED)
        self.seed = pick_seed(wish.seed)
        self.stop = wish.stop or StopFlag()
        self.searched = wish.even_one or len(self.codes) > 1
        self.decided = False
        self.merged: dict[int, _Merged] | None = None  # none since the trees grew
        self.targets = self._split(limits.threads) if self.searched else []
        weak = settings.margin > 0 or bool(settings.tuning)
        self.trees = trees if self.searched and not weak else None
        earlier = Trees() if self.trees is None else self.trees.take()
        self.searches: list[Search] = [
            new_search(
                self.position.codec.rules,
                self.position.state,
                self.seat,
                self.codes,
                seed=self.seed,
                stream=index,
                knowledge=engine.knowledge,
                tuning=engine.tuning | settings.tuning,
                memory=min(
                    engine.memory // limits.threads,
                    BYTES_A_SIMULATION * (target + len(self.codes)) + earlier.footprint_of(index),
                ),
            )
            for index, target in enumerate(self.targets)
        ]
        self.continued = earlier.continue_in(self.searches)

    def _split(self, threads: int) -> list[int]:
        """How many simulations each thread is to make."""
        each, rest = divmod(self.simulations, threads)
        return [each + (index < rest) for index in range(threads)]

    def leave_trees(self, answer: Move) -> None:
        """Leave the trees for the seat's next search, if that may go on from them."""
        if self.trees is not None:
            self.trees.keep(self.searches, answer.code)

    def solve(self) -> Analysis | None:
        """The exact answer, if the rest of the game is small enough to try it all.

        Not for levels below the strongest, which would play their last moves too well.
        """
        if not self.searched or self.margin > 0:
            return None
        left = self.deadline - time.monotonic_ns()
        solver = Solver(
            self.position.codec.rules,
            min(SOLVED_POSITIONS, SOLVED_A_SIMULATION * self.simulations),
            self.deadline - round((1 - SOLVED_TIME) * left),
        )
        values = solver.solve(self.position.state, self.seat, self.codes)
        if values is None:
            return None
        seat = self.seat
        ranked = sorted(
            zip(self.codes, values, strict=True),
            key=lambda one: (-one[1][0][seat], -one[1][1][seat] + one[1][1][1 - seat], one[0]),
        )
        candidates = tuple(
            Candidate(
                move=self.position.move(code, seat),
                visits=0,
                estimate=Estimate(
                    win_share=shares, score=scores, standard_error=0.0, lower_bound=shares[seat]
                ),
                probability=float(rank == 0),
                principal_variation=tuple(
                    Move(self.position.codec, line_code, line_seat)
                    for line_seat, line_code in line[:VARIATION_LENGTH]
                ),
            )
            for rank, (code, (shares, scores, line)) in enumerate(ranked[: self.candidates])
        )
        return Analysis(
            best_move=candidates[0].move,
            seat=seat,
            candidates=candidates,
            estimate=candidates[0].estimate,
            statistics=Statistics(
                simulations=0,
                determinizations=0,
                nodes=solver.positions,
                depth=solver.depth,
                memory=0,
                elapsed=(time.monotonic_ns() - self.start) / 1e9,
                threads=1,
                seed=self.seed,
                stop_reason=StopReason.SOLVED,
                exact=True,
            ),
            warnings=(),
        )

    def grow(self, until: int) -> None:
        """Let every tree grow to its target, the time given, or a stop."""
        deadline = min(until, self.deadline)
        self.merged = None

        def run(index: int) -> None:
            search = self.searches[index]
            with self.growing(self.stop):
                search.run(self.targets[index] - search.simulations, deadline, self.stop)

        if len(self.searches) == 1:
            run(0)
        elif self.searches:
            others = _helpers(os.getpid()).map(run, range(1, len(self.searches)))
            run(0)
            list(others)

    def grow_until_decided(self) -> None:
        """Let every tree grow to its end, or until the best move is sure to stay it."""
        begin = time.monotonic_ns()
        if self.deadline == UNLIMITED:
            self.grow(UNLIMITED)
            return
        while True:  # also a search that is late at its start makes its first simulations
            now = time.monotonic_ns()
            self.grow(now + (self.deadline - now) // LOOKS)
            self.decided = self._cannot_change(begin)
            if self.stop_reason() is not None:
                return

    def _cannot_change(self, begin: int) -> bool:
        """Whether no other move can get the visits that it needs to be best.

        Weak levels draw among several moves, and mixed strategies too: these always can.
        """
        merged = self._merge()
        if not merged or self.margin > 0 or any(move.strategy for move in merged.values()):
            return False
        now = time.monotonic_ns()
        visits = sorted((move.visits for move in merged.values()), reverse=True)
        left = (self.deadline - now) * sum(visits) / (now - begin)
        second = visits[1] if len(visits) > 1 else 0
        return second + FASTER * left < ROBUST_SHARE * visits[0]

    def stop_reason(self) -> StopReason | None:
        """Why the search is over, or None if it can go on."""
        if not self.searched:
            return StopReason.ONLY_MOVE
        if all(
            search.simulations >= target
            for search, target in zip(self.searches, self.targets, strict=True)
        ):
            return StopReason.SIMULATIONS
        if self.stop.is_set():
            return StopReason.STOPPED
        if time.monotonic_ns() >= self.deadline:
            return StopReason.TIME
        return StopReason.DECIDED if self.decided else None

    def report(self) -> Report:
        """What the trees say now."""
        reason = self.stop_reason()
        merged = self._merge()
        order = self._order(merged)
        strategy = _mixed_strategy(merged)
        best = self._best(order, merged, strategy)
        candidates = tuple(
            self._candidate(code, rank, merged.get(code), strategy.get(code, float(code == best)))
            for rank, code in enumerate(order[: self.candidates])
        )
        simulations = sum(search.simulations for search in self.searches)
        warnings = []
        if any(search.memory_full for search in self.searches):
            warnings.append(
                "the memory for the search tree was used up; what was visited least was dropped"
            )
        analysis = Analysis(
            best_move=self.position.move(best, self.seat),
            seat=self.seat,
            candidates=candidates,
            estimate=self._estimate(merged[order[0]]) if merged else None,
            statistics=Statistics(
                simulations=simulations,
                determinizations=simulations,
                nodes=sum(search.nodes for search in self.searches),
                depth=max((search.depth for search in self.searches), default=0),
                memory=sum(search.memory for search in self.searches),
                elapsed=(time.monotonic_ns() - self.start) / 1e9,
                threads=max(1, len(self.searches)),
                seed=self.seed,
                stop_reason=reason,
                exact=False,
                continued=self.continued,
            ),
            warnings=tuple(warnings),
        )
        return Report(analysis=analysis, final=reason is not None)

    def _merge(self) -> dict[int, _Merged]:
        """What the trees say together, by move; once for each growth."""
        if self.merged is None:
            self.merged = self._add_up() if self.searches else {}
        return self.merged

    def _add_up(self) -> dict[int, _Merged]:
        rows = merge_roots(self.searches)
        if not rows:
            return {}
        # As if one more draw, as uncertain as all were, had been seen of each move: so one visit
        # proves nothing. Of all, one more is added of a fair coin's variance.
        count = sum(row[1] for row in rows)
        total = sum(row[2][self.seat] for row in rows)
        variance = (max(0.0, sum(row[4] for row in rows) - total * total / count) + 0.25) / count
        return {
            code: _Merged(
                visits,
                shares,
                scores,
                math.sqrt(spread + variance) / visits,
                strategy,
                self.searches[index],
                behind,
                trust,
            )
            for code, visits, shares, scores, _, spread, strategy, index, behind, trust in rows
        }

    def _share(self, merged: _Merged) -> float:
        return merged.shares[self.seat] / merged.visits

    def _estimate(self, merged: _Merged) -> Estimate:
        # Where luck was taken out of the simulations, a mean may lie a little outside, and that of
        # few visits far.
        inside = [max(0.0, total) for total in merged.shares]
        whole = merged.visits if inside == merged.shares else sum(inside)
        win_share = tuple(min(1.0, share / whole) for share in inside)
        return Estimate(
            win_share=win_share,
            score=tuple(total / merged.visits for total in merged.scores),
            standard_error=merged.error,
            lower_bound=max(0.0, win_share[self.seat] - CONFIDENCE * merged.error),
        )

    def _order(self, merged: dict[int, _Merged]) -> list[int]:
        """The codes of the tried moves, best first; one untried move if there are none."""
        if not merged:
            return [random.Random(self.seed).choice(self.codes)]
        enough = _robust_visits(merged)
        mixed = any(move.strategy for move in merged.values())
        # What the best-looking move is worth: all simulations tell of it, if looks are right.
        visits = sum(move.visits for move in merged.values())
        looks = sum(move.shares[self.seat] + move.visits * move.behind for move in merged.values())
        best = looks / visits

        def key(code: int) -> tuple[bool, float, int]:
            move = merged[code]
            if mixed:
                return (False, -move.strategy, code)
            if move.visits < enough:
                return (True, -move.visits, code)
            seen = self._share(move) - CONFIDENCE * move.error
            worth = (1 - move.trust) * seen + move.trust * (best - move.behind)
            return (False, -worth, code)

        return sorted(merged, key=key)

    def _best(
        self, order: list[int], merged: dict[int, _Merged], strategy: dict[int, float]
    ) -> int:
        """The move to play: the first, or for a weaker level one about as good.

        From a mixed strategy, any of its moves, as often as it says.
        """
        if strategy:
            (drawn,) = random.Random(self.seed).choices([*strategy], [*strategy.values()])
            return drawn
        if self.margin == 0 or not merged:
            return order[0]
        enough = _robust_visits(merged)
        least = self._share(merged[order[0]]) - self.margin
        near = [
            code
            for code in order
            if merged[code].visits >= enough and self._share(merged[code]) >= least
        ]
        return random.Random(self.seed).choice(near)

    def _candidate(
        self,
        code: int,
        rank: int,
        merged: _Merged | None,
        probability: float,
    ) -> Candidate:
        codec = self.position.codec
        variation: tuple[Move, ...] = ()
        if merged is not None and rank < VARIATION_CANDIDATES:
            variation = tuple(
                Move(codec, line_code, seat)
                for seat, line_code in merged.search.principal_variation(code, VARIATION_LENGTH)
            )
        return Candidate(
            move=self.position.move(code, self.seat),
            visits=0 if merged is None else merged.visits,
            estimate=None if merged is None else self._estimate(merged),
            probability=probability,
            principal_variation=variation,
        )


def _mixed_strategy(merged: dict[int, _Merged]) -> dict[int, float]:
    """How often to make each move, without the rarest; empty if the strategy is pure."""
    least = RARE * max((move.strategy for move in merged.values()), default=0.0)
    kept = {code: move.strategy for code, move in merged.items() if move.strategy > least}
    total = sum(kept.values())
    return {code: weight / total for code, weight in kept.items()}


def _robust_visits(merged: dict[int, _Merged]) -> float:
    """The visits that a move needs to be judged by its lower bound."""
    return ROBUST_SHARE * max(move.visits for move in merged.values())
