"""Callbacks of `fit`: checkpoints, EMA weights, logs, the time limit."""
