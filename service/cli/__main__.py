"""`python -m aleator.service.cli` is the command `aleator`."""

from aleator.service.cli import main

main()
