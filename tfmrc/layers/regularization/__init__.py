"""Dropout layers."""
