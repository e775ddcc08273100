"""ELMo: its layers, its authors' files, and TensorFlow Hub's modules."""
