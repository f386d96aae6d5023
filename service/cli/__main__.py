"""`python -m aleator.service.cli` is the command `aleator`."""

from aleator.service.cli.app import main

main()
