"""Transforms of examples: splits, spans, passages, tags."""
