"""Plots of scores, attention and attribution."""
