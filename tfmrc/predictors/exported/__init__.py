"""Exports: signature, predictor, versions, and the errors of requests."""
