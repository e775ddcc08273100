"""Mutation testing: whether the tests notice that a line of the library is wrong.

`make mutants` runs it; docs/explanation/testing.md has the figures.
"""
