"""The command line `python -m tfmrc.evaluation`."""
