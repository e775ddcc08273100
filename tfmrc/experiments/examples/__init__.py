"""Examples of an experiment: read from files, split, limited, located, tagged and counted."""
