"""Random attacks on files, repeatable by their seed: `make fuzz`."""
