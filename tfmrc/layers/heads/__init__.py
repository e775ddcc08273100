"""Output layers: answers, pointers, rankers."""
