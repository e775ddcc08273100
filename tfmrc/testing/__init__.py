"""Tests that every layer and model should pass, for tfmrc's own and for users'.

`run_layer_test` and `run_model_test` check in one call what is easy to forget: a configuration
that makes the same object, the same numbers in the graph, eagerly, alone, in a batch, padded and
after loading, finite numbers in every precision and at fully masked rows, and a gradient for every
weight. `gradients` differentiates on whichever backend Keras runs.
"""

from tfmrc.testing.gradients import gradients
from tfmrc.testing.layer_test import run_layer_test
from tfmrc.testing.model_test import run_model_test

__all__ = ["gradients", "run_layer_test", "run_model_test"]
