"""The command `aleator`: a server, and the engine at a terminal without one.

`app` holds the commands, `report` shows results to people and programs, `play`
is a game of people and the engine. What commands compute comes from
`aleator.search`; the server is only imported where it is started.
"""

import sys


def main() -> None:
    """Run the command line."""
    if sys.argv[1:2] == ["health"]:  # a probe: not with all that the other commands import
        from aleator.service.healthcheck import main as check_health

        sys.exit(check_health(sys.argv[2:]))
    from aleator.service.cli.app import main as run_command

    run_command()
