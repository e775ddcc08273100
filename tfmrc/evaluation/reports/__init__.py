"""Reports of runs, tables, samples and the state of reproduction."""
