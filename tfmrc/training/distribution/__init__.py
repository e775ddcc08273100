"""Data-parallel training under `tf.distribute`."""
