"""Random attacks on files and texts, repeatable by their seed: `make fuzz`."""
