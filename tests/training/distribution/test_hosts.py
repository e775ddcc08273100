"""Two hosts, as two processes of this machine, train as one."""

import signal
import socket
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest

from tests import fresh_python

pytestmark = pytest.mark.slow

SETTINGS = [
    "sources.0.train_share=0.05",
    "split={validation_share: 0.5, validation_limit: 6}",
    "vocabulary={size: 50, min_count: 10, num_oov_buckets: 4}",
    "preprocessor={passage_length: 30, question_length: 10, answer_length: 4, stride: 15}",
    "training={steps: 6, batch_size: 4, eval_every_steps: 3, checkpoint_every_steps: 1}",
    "training.optimizer_of=MaxoutPointerQG",  # SGD: Adam's relatives amplify rounding
    "model={name: SAN, word_dim: 4, units: 2, align_dim: 2, answer: linear, dropout: 0.2}",
]
BLOCKS = (
    "num_shared_blocks: 1, num_question_blocks: 1, num_passage_blocks: 1, num_decoder_blocks: 1"
)
TEXTS = "passage_length: 30, question_length: 10, generation_vocabulary_size: 9"
OTHERS = {
    "Masque": [
        f"preprocessor={{{TEXTS}, answer_length: 4, num_passages: 1}}",
        "model={name: Masque, word_dim: 4, hidden_dim: 4, num_heads: 2, intermediate_dim: 4, "
        f"{BLOCKS}, ranker: false, classifier: false, dropout: 0.2}}",
    ],
    "DAANet": [
        f"preprocessor={{{TEXTS}, answer_length: 4, word_length: 4}}",
        "model={name: DAANet, word_dim: 4, character_dim: 2, hidden_dim: 4, num_lstm_layers: 1, "
        "num_heads: 2, inner_dim: 4, dropout: 0.2}",
    ],
    "MaxoutPointerQG": [
        f"preprocessor={{{TEXTS}}}",
        "model={name: MaxoutPointerQG, word_dim: 4, hidden_dim: 4, num_layers: 1, dropout: 0.2}",
    ],
    "ExtractiveReader": [
        "vocabulary={}",
        "encoder={preset: minilm, trainable_layers: 0}",
        "preprocessor={window_length: 64, overlap: 16, question_length: 10, answer_length: 4}",
        "model={name: ExtractiveReader}",
    ],
}


def start(run, *hosts, settings=()):
    command = ["-m", "tfmrc.cli", "train", "squad_demo/without_encoder", "--run", run, *hosts]
    return subprocess.Popen(
        [sys.executable, *command, "--set", *SETTINGS, *settings],
        cwd=fresh_python.ROOT,
        env=fresh_python.environment(KERAS_BACKEND="jax"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def start_two(run, **options):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    ranks = [("--hosts", "2", "--rank", str(rank), "--coordinator", address) for rank in range(2)]
    return [start(run, *rank, **options) for rank in ranks]


def ended(*processes):
    outputs = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), outputs
    return outputs


def weights(run):
    arrays = {}
    with h5py.File(run / "predictor" / "model.weights.h5") as file:
        file.visititems(
            lambda name, item: arrays.update({name: item[...]}) if hasattr(item, "shape") else None
        )
    return arrays


def assert_same(place):
    """Returns the weights of two hosts, which are those of one."""
    one, two = weights(place / "one"), weights(place / "two")
    assert one.keys() == two.keys() and len(one) > 5
    for name, value in one.items():
        np.testing.assert_allclose(two[name], value, rtol=1e-4, atol=1e-6, err_msg=name)
    return two


@pytest.mark.parametrize("model", OTHERS)
def test_other_models_train_on_two_hosts_as_on_one(model, tmp_path):
    settings = [*OTHERS[model], "training.steps=2", "training.eval_every_steps=2"]
    ended(start(tmp_path / "one", settings=settings))
    ended(*start_two(tmp_path / "two", settings=settings))
    assert_same(tmp_path)


def test_weights_are_those_of_one_host_and_a_killed_host_loses_nothing(tmp_path):
    ended(start(tmp_path / "one"))
    outputs = ended(*start_two(tmp_path / "two"))
    assert "Trained 6 steps" in outputs[0] and "Trained 6 steps" not in outputs[1]
    two = assert_same(tmp_path)

    first, second = start_two(tmp_path / "killed")
    while not list((tmp_path / "killed" / "checkpoints").glob("step-*2-*.npz")):
        assert first.poll() is None, first.communicate()[0]
        time.sleep(0.1)
    second.send_signal(signal.SIGKILL)
    output = first.communicate()[0]
    assert first.returncode != 0 and not (tmp_path / "killed" / "training.json").exists(), output
    outputs = ended(*start_two(tmp_path / "killed"))
    assert "resuming after step" in outputs[0]
    for name, value in weights(tmp_path / "killed").items():
        np.testing.assert_array_equal(value, two[name], err_msg=name)
