"""Encoders in Hugging Face's form: configuration, weights and tokenizer."""
