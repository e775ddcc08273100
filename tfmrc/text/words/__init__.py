"""Words: tokenizer, boundaries, sentences, stems, characters, by graph operations."""
