"""Spans over the windows of all passages: scores, answers, ensembles and rankers."""
