"""Model and preprocessor of a run: built from settings, or loaded from another run."""
