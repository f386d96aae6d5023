"""How fast Aleator is: `python -m bench roygbiv` prints a table, with `--json` JSON."""
