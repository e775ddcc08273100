"""`tfmrc profile`: the executed operations of an export, by part and by loop."""

import json
from pathlib import Path

import pytest
import tensorflow as tf

from tests.serving.small_models import write_warmup_requests
from tfmrc import cli
from tfmrc.serving import profile
from tfmrc.serving.profiling import NO_LAYER

STEPS = 7


class Looped(tf.Module):
    """A product in a loop of as many steps as `STEPS`, in two nested layers."""

    def __init__(self) -> None:
        super().__init__()
        with tf.name_scope("decoder"), tf.name_scope("block"):
            self.kernel = tf.Variable(tf.eye(3), name="kernel")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "question")], autograph=False)
    def serve(self, question: tf.Tensor) -> dict[str, tf.Tensor]:
        values = tf.repeat(tf.strings.to_number(question)[:, None], 3, axis=1)

        def body(step: tf.Tensor, values: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            with tf.name_scope("decoder/block/"):
                return step + 1, tf.matmul(values, self.kernel)

        _, values = tf.while_loop(lambda step, _: step < STEPS, body, (0, values))
        return {"answer": tf.strings.as_string(values[:, 0])}


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("looped") / "1"
    model = Looped()
    tf.saved_model.save(model, str(folder), signatures=model.serve)
    write_warmup_requests(folder, "looped", [{"question": ["1", "2"]}])
    return folder


def test_parts_loops_and_rows(export: Path) -> None:
    found = profile(export.parent, repeats=1)
    assert (found.path, found.signature, found.rows) == (export, "serving_default", 2)
    [loop] = found.loops
    assert loop.steps == STEPS and loop.name == "while"
    assert STEPS < loop.operations < found.operations
    parts = {part.name: part for part in found.parts}
    assert set(parts) == {"decoder/block", NO_LAYER}
    assert parts["decoder/block"].operations >= STEPS  # a product in each step
    assert sum(part.operations for part in found.parts) == found.operations
    assert 0 < found.loaded_mib <= found.peak_mib and found.milliseconds > 0
    table = str(found)
    assert f"loop while: {STEPS} steps" in table and "decoder/block" in table
    shallow = profile(export, {"question": ["5"]}, batch_size=6, depth=1, repeats=1)
    assert shallow.rows == 6 and "decoder" in {part.name for part in shallow.parts}
    assert shallow.loops[0].steps == STEPS


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"signature": "ask"}, "The signatures are serving_default"),
        ({"request": {"passage": ["a"]}}, "The inputs are question. Received: passage"),
        ({"request": {"question": "a"}}, "`question` must have 1 dimensions and a row"),
        ({"request": {"question": []}}, "and a row. Received: shape"),
        ({"request": {"question": ["owl"]}}, "The graph refuses the request"),
        ({"request": {"question": ["1", 5]}}, "`question` holds texts. Received: \\['1', 5\\]"),
        ({"repeats": 0}, "repeats=0"),
    ],
)
def test_wrong_requests_are_named(export: Path, arguments: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        profile(export, **arguments)  # type: ignore[arg-type]


def test_half_a_character_is_read_as_a_server_reads_it(export: Path) -> None:
    with pytest.raises(ValueError, match="The graph refuses the request"):  # "?" is no number
        profile(export, {"question": ["\ud800"]}, repeats=1)


def test_the_command(export: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    request = tmp_path / "request.json"
    request.write_text('{"inputs": {"question": ["3"]}}')
    assert cli.main(["profile", str(export), "--request", str(request), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["path"], found["rows"], found["loops"][0]["steps"]) == (str(export), 1, STEPS)
    assert cli.main(["profile", str(export), "--repeats", "1"]) == 0
    assert "ms per request" in capsys.readouterr().out
    for content, said in (("[1]", "must be a JSON object"), ("{", "is no JSON")):
        request.write_text(content)
        assert cli.main(["profile", str(export), "--request", str(request)]) == 1
        assert said in capsys.readouterr().err
    for folder, said in (
        (tmp_path, "Make one with"),
        (export.parent.parent, str(export.parent)),
    ):
        assert cli.main(["profile", str(folder)]) == 1
        error = capsys.readouterr().err
        assert "There is no SavedModel" in error and said in error
    (export / "assets.extra" / "tf_serving_warmup_requests").unlink()
    assert cli.main(["profile", str(export)]) == 1
    assert "no warm-up request of serving_default" in capsys.readouterr().err
