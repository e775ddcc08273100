"""The ready reader."""
