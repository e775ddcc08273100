"""The ready models."""
