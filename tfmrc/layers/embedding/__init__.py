"""Embedding layers."""
