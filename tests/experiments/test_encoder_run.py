"""An experiment with a pretrained encoder: trained, evaluated and exported from its YAML file."""

import json

import numpy as np
import pytest
from keras import ops

import tfmrc
from tests.experiments.test_run import CONFIG, example
from tests.running import eagerly
from tfmrc import Predictor, cli, data, encoders, experiments, models, training
from tfmrc.experiments.building import build_encoder, check_experiment, compile_arguments

WORDS = "who ran home ? . slept all day it rained ann bob ##eo cl dan eve finn gus hal".split()
ENCODER = {
    "model_type": "bert",
    "vocab_size": 4 + len(WORDS),
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 8,
    "max_position_embeddings": 32,
    "type_vocab_size": 2,
    "hidden_dropout_prob": 0.0,
    "layer_norm_eps": 1e-12,
    "hidden_act": "gelu",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Data, and an encoder in Hugging Face's form without weights."""
    made = tmp_path_factory.mktemp("encoder_recipe")
    data.write_examples(made / "train.jsonl", [example(n) for n in range(24)])
    data.write_examples(made / "test.jsonl", [example(n) for n in range(100, 104)])
    encoder = made / "encoder"
    encoder.mkdir()
    (encoder / "config.json").write_text(json.dumps(ENCODER))
    (encoder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS]))
    (made / "config.yaml").write_text(CONFIG, encoding="utf-8")
    return made


@pytest.mark.slow  # test_squad_demo and test_generation_encoder_run are the quick ones
def test_train_evaluate_export(folder, tmp_path):
    run, export = folder / "run", tmp_path / "small" / "1"
    settings = [
        f"encoder={{preset: {folder / 'encoder'}, random: true, length: 24, overlap: 4,"
        " trainable_layers: none}",
        "vocabulary.rows_from_encoder=true",
        "model.embeddings_trainable=false",
        "training.optimizer={warmup_steps: 1, ema: 0.5, encoder_learning_rate: 0.0}",
        "training.steps=2",
        "training.eval_every_steps=2",
    ]
    command = ["train", str(folder / "config.yaml"), "--data", str(folder), "--run", str(run)]
    with eagerly():
        assert cli.main([*command, "--set", *settings]) == 0
        assert cli.main(["evaluate", str(run)]) == 0
    predictor = Predictor.load(run / "predictor")
    encoder, vocabulary = predictor.model.encoder, predictor.preprocessor.vocabulary
    assert encoder.preset["name"] == str(folder / "encoder")
    rows = ops.convert_to_numpy(predictor.model.word_embedding.words)
    table = ops.convert_to_numpy(encoder.backbone.token_embedding.embeddings)
    pieces = predictor.preprocessor.subwords.pieces
    for word, parts in {"ran": ["ran"], "cleo": ["cl", "##eo"]}.items():
        right = table[[pieces.id_of(part) for part in parts]].mean(axis=0)
        np.testing.assert_allclose(rows[vocabulary.words.index(word) - 4], right, atol=1e-7)
    assert list(run.glob("evaluation/*/metrics.json"))
    assert cli.main(["export", str(run), "--to", str(export)]) == 0
    question = {"question": "Who ran home?", "passages": ["Ann ran home.", "It rained."]}
    found = tfmrc.load(export)
    with eagerly():
        expected = predictor.answer(**question, max_length=4)
    assert found.answer(**question).text == expected.text
    assert json.loads((run / "training.json").read_text())["words_with_a_vector"] == 1.0


def test_rows_need_an_encoder_and_exclude_vectors(folder):
    path = folder / "config.yaml"
    for settings in (
        ["vocabulary.rows_from_encoder=true"],
        ["vocabulary={rows_from_encoder: true, vectors: v.npz}", "encoder.preset=minilm"],
    ):
        with pytest.raises(ValueError, match="rows_from_encoder=true"):
            check_experiment(experiments.load(path, *settings))


def test_an_encoder_has_the_precision_of_the_training(folder):
    settings = [f"encoder={{preset: {folder / 'encoder'}, random: true}}"]
    for more, policy in (
        ([], "float32"),
        (["training.dtype=mixed_bfloat16"], "mixed_bfloat16"),
        (["training.dtype=mixed_bfloat16", "encoder.dtype=float32"], "float32"),
    ):
        experiment = experiments.load(folder / "config.yaml", *settings, *more)
        assert build_encoder(experiment).layer.dtype_policy.name == policy


def test_the_loss_is_scaled_where_the_encoder_alone_computes_in_float16(folder):
    settings = [f"encoder.preset={folder / 'encoder'}", "training.optimizer_of=DAANet"]
    experiment = experiments.load(folder / "config.yaml", *settings)
    for dtype, scaled in (("mixed_float16", True), ("mixed_bfloat16", False), ("float32", False)):
        layer = encoders.from_vocabulary(["owl"], dtype=dtype).layer
        model = models.ExtractiveReader(encoder=layer)
        own = training.compile_arguments(model, steps=9, steps_per_epoch=3)
        layer.trainable_layers = "none"
        others = compile_arguments(experiment, model, 9, 3)
        for arguments in (own, others):
            assert isinstance(arguments["optimizer"], training.LossScale) == scaled


def test_a_missing_encoder_is_named_before_any_data_is_read(folder):
    settings = ["encoder={preset: runs/nowhere, keep_layers: [0]}"]
    experiment = experiments.load(folder / "config.yaml", *settings)
    with pytest.raises(ValueError, match="there once it is trained.*preset='runs/nowhere'"):
        experiments.train(experiment, data=folder / "no_data")


def test_the_optimizer_of_another_paper_has_no_rates_of_an_encoder(folder):
    settings = [f"encoder.preset={folder / 'encoder'}", "training.optimizer_of=DAANet"]
    experiment = experiments.load(folder / "config.yaml", *settings)
    layer = encoders.from_vocabulary(["owl"]).layer
    model = models.ExtractiveReader(encoder=layer)
    with pytest.raises(ValueError, match="no learning rates for an encoder.*optimizer_of='DAANet'"):
        compile_arguments(experiment, model, 9, 3)
    layer.trainable_layers = "none"
    optimizer = compile_arguments(experiment, model, 9, 3)["optimizer"]
    options = experiment.training.optimizer
    expected = training.daanet(steps=9, steps_per_epoch=3, **options)["optimizer"]
    assert optimizer.get_config() == expected.get_config()
