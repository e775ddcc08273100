"""Optimizers that clip one gradient norm over all replicas."""
