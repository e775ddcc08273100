"""Output layers: answers, relevance, copying."""
