"""Readers of official dataset formats, one per file."""
