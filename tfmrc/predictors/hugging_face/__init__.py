"""Readers in Hugging Face's form, and the pipeline that transformers removed."""
