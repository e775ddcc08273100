"""Metrics: official scores of answers, spans, rankings and decisions."""
