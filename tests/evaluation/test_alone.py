"""The room stands alone: no TensorFlow, no Keras, nothing else of tfmrc, and no slow import."""

from pathlib import Path

from tests import fresh_python

CHECK = """
import sys
import tfmrc.evaluation
loaded = set(sys.modules)
heavy = {"tensorflow", "keras", "matplotlib", "pycocoevalcap", "rich", "jax"} & loaded
foreign = {n for n in loaded if n.startswith("tfmrc.") and not n.startswith("tfmrc.evaluation")}
print(sorted(heavy | foreign))
"""


def test_importing_loads_nothing_heavy() -> None:
    assert fresh_python.run("-c", CHECK) == "[]"


def test_scoring_on_the_command_line_needs_no_tensorflow(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"query_id": 1, "answers": ["a mill"]}')
    names = [
        "--predictions",
        str(tmp_path / "run.json"),
        "--references",
        str(tmp_path / "run.json"),
    ]
    block = "import sys; sys.modules.update(tensorflow=None, keras=None); "
    run = "import runpy; sys.argv = ['x', 'answers', *{!r}]; "
    run += "runpy.run_module('tfmrc.evaluation', run_name='__main__')"
    assert "100.00" in fresh_python.run("-c", block + run.format(names))
