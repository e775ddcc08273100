"""Word vectors and their files."""
