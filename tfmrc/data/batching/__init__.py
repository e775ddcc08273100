"""Batches of examples for `model.fit`."""
