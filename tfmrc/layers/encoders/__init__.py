"""Encoder and decoder layers."""
