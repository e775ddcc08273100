"""The export under TensorFlow 2.20, the line of TensorFlow Serving's newest release.

Slow: makes an environment with tensorflow 2.20 and tensorflow-text 2.20.1 (about 2 GB, from the
package index), or takes the one that TFMRC_TF220 names.
"""

import pytest

from tests.serving.predictors import REQUEST, assert_same_outputs, run_loader


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_export_answers_the_same_under_tensorflow_2_20(exported, answer_arrays, older_python):
    (reply,) = run_loader(exported, [REQUEST], python=older_python)
    assert_same_outputs(reply["outputs"], answer_arrays, rtol=1e-4)
