"""Pictures of games for a person at a terminal, one module per game.

A drawing knows what a position looks like and how a person types a move; it
knows no rules. It is handed plain records (see `aleator.search.games`) of what
one seat may see, so it cannot show what that seat must not know.
"""

from aleator.service.drawing.base import Drawing, Scene
from aleator.service.drawing.generator import GeneratorDrawing
from aleator.service.drawing.my_shelfie import MyShelfieDrawing
from aleator.service.drawing.riviera import RivieraDrawing
from aleator.service.drawing.roygbiv import RoygbivDrawing

DRAWINGS: dict[str, type[Drawing]] = {
    drawing.game: drawing
    for drawing in (GeneratorDrawing, MyShelfieDrawing, RivieraDrawing, RoygbivDrawing)
}

__all__ = [
    "DRAWINGS",
    "Drawing",
    "GeneratorDrawing",
    "MyShelfieDrawing",
    "RivieraDrawing",
    "RoygbivDrawing",
    "Scene",
]
