"""Tests that every layer and model should pass, for tfmrc's own and for users'.

`run_layer_test` and `run_model_test` check that the configuration rebuilds the same object; that
the numbers are the same in the graph, eagerly, alone, in a batch, padded and after loading; that
they are finite in every precision and at fully masked rows; and that every weight has a gradient.
`gradients` computes gradients on the current backend of Keras.
"""

from tfmrc.testing.gradients import gradients
from tfmrc.testing.layer_test import run_layer_test
from tfmrc.testing.model_test import run_model_test
