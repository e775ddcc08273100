"""Helpers of every room: arguments, files, memory, and what Keras keeps private."""
