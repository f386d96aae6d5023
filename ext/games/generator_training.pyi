from aleator.ext.games.generator import Generator

class Trainer:
    def __init__(self, game: Generator, seed: int) -> None: ...
    def learn(
        self,
        games: int,
        speed: float,
        kept: float,
        discount: float,
        noise: float,
        by_lead: bool,
    ) -> tuple[float, float, float]: ...
    def judge(
        self, games: int
    ) -> tuple[list[list[float]], list[list[float]], list[int], list[int]]: ...
