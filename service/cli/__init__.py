"""The command `aleator`: a server, and the engine at a terminal without one.

`app` holds the commands, `report` shows results to people and programs, `play`
is a game of people and the engine. What commands compute comes from
`aleator.search`; the server is only imported where it is started.
"""

from aleator.service.cli.app import main

__all__ = ["main"]
