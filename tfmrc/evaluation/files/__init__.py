"""Prediction, reference and metrics files."""
