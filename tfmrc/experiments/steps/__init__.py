"""The steps of an experiment: prepare, train, evaluate, predict, export."""
