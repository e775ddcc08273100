"""Attacks on commands, files, folders and loaded models: `make attacks`."""
