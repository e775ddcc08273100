"""Scoring loads no TensorFlow and no Keras, and its import is quick."""

from tests import fresh_python

CHECK = """
import sys
import tfmrc.evaluation
print(sorted({"tensorflow", "keras", "matplotlib", "pycocoevalcap", "jax"} & set(sys.modules)))
"""
SCORE = """
import sys
sys.modules.update(tensorflow=None, keras=None)
from tfmrc.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_importing_loads_nothing_heavy():
    assert fresh_python.run("-c", CHECK) == "[]"


def test_scoring_on_the_command_line_needs_no_tensorflow(tmp_path):
    run = tmp_path / "run.json"
    run.write_text('{"query_id": 1, "answers": ["a mill"]}')
    assert "ROUGE-L 100.00" in fresh_python.run("-c", SCORE, "score", run, run)
