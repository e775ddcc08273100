"""The dual model on an encoder: values, what each task reads, decoding, what is trained."""

import numpy as np
import pytest
from keras import ops

from tests.layers.weights import randomise, values
from tests.models import duals, subwords
from tests.models.duals import FOUR, Triplet
from tests.models.test_daanet import expected
from tfmrc import training
from tfmrc.losses import SequenceMean, SequenceNLL
from tfmrc.models import DAANet
from tfmrc.models.daanet import ENCODER_INPUTS, TASKS
from tfmrc.models.daanet_task import GIVEN
from tfmrc.ops.ids import PAD, UNK
from tfmrc.testing import gradients, run_model_test

PARTS = ("encoder_ids", "segment_ids", "passage_pieces")


def batch(reading, triplets=FOUR, longer=0):
    """The batch of `duals` and what the encoder reads."""
    x = duals.batch(triplets, longer)
    passages, width = [t.passage for t in triplets], x["passage_ids"].shape[1]
    if reading == "separate":
        ids, _, pieces = subwords.read([()] * len(triplets), passages, width)
        return x | {"encoder_ids": ids, "passage_pieces": pieces}
    for text in GIVEN.values():
        read = subwords.read([getattr(t, text) for t in triplets], passages, width)
        x |= {f"{text}_{part}": value for part, value in zip(PARTS, read, strict=True)}
    return x


def source(x, task):
    """What `encode` of a direction takes."""
    given = GIVEN[task]
    names = ("encoder_ids", "passage_pieces", *(f"{given}_{part}" for part in PARTS))
    return duals.source(x, task) | {name: x[name] for name in names if name in x}


def made(use="embedding", reading="joint", of_encoder=None, **changes):
    encoder = subwords.encoder(**(of_encoder or {}))
    sizes = {"num_lstm_layers": 1, **changes}
    model = duals.small(encoder=encoder, encoder_use=use, reading=reading, **sizes)
    randomise(model, seed=3, scale=0.5)
    return model


DESIGNS = [
    ("embedding", "joint", {}),
    ("contextual", "separate", {}),
    ("embedding", "joint", {"context_attention": False, "share_context_encoder": False}),
]


@pytest.fixture(scope="module", params=DESIGNS, ids=lambda design: f"{design[0]}-{design[1]}")
def model(request):
    use, reading, changes = request.param
    return made(use, reading, **changes)


def vectors(model, x, task, b):
    """The vectors of the words of a passage as a task reads it: those of their first subwords."""
    if model.reading == "separate":
        states, pieces = model.encoder(x["encoder_ids"]), x["passage_pieces"]
    else:
        ids, segments, pieces = (x[f"{GIVEN[task]}_{part}"] for part in PARTS)
        states = model.encoder(ids, segments)
    found = np.array(states)[b].astype("float64")[pieces[b, :, 0]]
    if model.encoder_use == "embedding":
        return found
    v = values(model, strip=False)
    rows = np.concatenate([v["word_embedding/special"], v["word_embedding/words"]])
    rows[PAD] = 0.0
    return np.concatenate([rows[x["passage_ids"][b]], found], axis=-1)


def test_each_word_has_the_vector_of_its_own_subwords(model):
    x = batch(model.reading)
    outputs, moved = model(x), []
    for task in TASKS:
        for b, triplet in enumerate(FOUR):
            read = vectors(model, x, task, b)
            log_p, coverage = expected(model, task, b, read)
            n = len(log_p)
            np.testing.assert_allclose(outputs[task][b, :n], log_p, rtol=3e-4, atol=5e-5)
            got = outputs[f"{task}_coverage"][b, :n]
            np.testing.assert_allclose(got, coverage, rtol=1e-3, atol=1e-5)
            other, _ = expected(model, task, b, read[: len(triplet.passage)][::-1])
            moved.append(abs(log_p - other).max())
    assert max(moved) > 5e-3  # other words' vectors would be seen


def test_in_joint_reading_the_passage_knows_what_is_given(model):
    x = batch(model.reading)
    changed = [Triplet(t.passage, [9, 4, 11], t.answer) for t in FOUR]
    other = batch(model.reading, changed)
    names = {"joint": [f"question_{part}" for part in PARTS], "separate": []}[model.reading]
    mixed = x | {name: other[name] for name in names}
    right, found = model(x), model(mixed)
    differs = {task: float(abs(np.array(found[task] - right[task])).max()) for task in TASKS}
    assert differs["ask"] == 0.0  # asks about the same answer
    assert (differs["answer"] > 1e-4) is (model.reading == "joint")
    # Each sequence is read by one task alone, the passage alone by both.
    calls = len(model.get_layer("encoder")._inbound_nodes)
    assert calls == (2 if model.reading == "joint" else 1)


def test_steps_equal_teacher_forcing(model):
    x = batch(model.reading)
    outputs = model(x)
    for task in TASKS:
        direction = model.answering if task == "answer" else model.asking
        memory = direction.encode(source(x, task))
        target_ids, forced = duals.targets(x, task), np.array(outputs[task])
        cache = direction.init_cache(memory, 2, target_ids.shape[1])
        previous, alive = np.full((4, 2), 2, "int32"), np.ones(4, bool)
        for t in range(target_ids.shape[1]):
            log_p, cache = direction.decode_step(memory, cache, previous, t)
            np.testing.assert_allclose(np.exp(log_p).sum(-1), 1.0, atol=3e-5)
            for b in np.flatnonzero((target_ids[:, t] != PAD) & alive):
                got = np.array(log_p)[b, :, target_ids[b, t]]
                np.testing.assert_allclose(got, forced[b, t], rtol=1e-4, atol=1e-4)
            # A word that is UNK is read as itself in training: such an example ends here.
            alive &= target_ids[:, t] != UNK
            previous = np.repeat(target_ids[:, t : t + 1], 2, axis=1)
        assert alive.sum() >= 2


def test_generated_words_their_score_and_the_batch(model):
    options = {"max_length": 3, "num_beams": 3, "num_return_sequences": 2}
    x = batch(model.reading)
    for direction in (model.answering, model.asking):
        memory = direction.encode(source(x, direction.task))
        found = direction.generate(memory, **options)
        for n in range(2):
            ids = np.array(found.ids)[:, n]
            parts = direction.attribute(memory, ids)
            right = np.where(ids != PAD, parts["log_probability"], 0.0).sum(-1)
            np.testing.assert_allclose(np.array(found.log_probability)[:, n], right, rtol=1e-4)
        for b in (0, 2):
            one = source(batch(model.reading, FOUR[b : b + 1]), direction.task)
            alone = direction.generate(direction.encode(one), **options)
            np.testing.assert_array_equal(alone.ids[0], found.ids[b])
            np.testing.assert_allclose(alone.score[0], found.score[b], rtol=1e-4)


@pytest.mark.parametrize(
    "use, reading",
    [("contextual", "joint"), pytest.param("embedding", "separate", marks=pytest.mark.slow)],
)
def test_what_any_model_owes_its_user(use, reading):
    x = batch(reading)
    targets = {n: duals.targets(x, n.split("_")[0]) for t in TASKS for n in (t, f"{t}_coverage")}
    axes = {
        **{f"{text}_ids": f"B {text[0]}" for text in duals.TEXTS},
        **{f"{text}_characters": f"B {text[0]} c" for text in duals.TEXTS},
        "extended_ids": "B p",
        **{f"{text}_target_ids": f"B {text[0]}" for text in duals.TEXTS[1:]},
    }
    for name in ENCODER_INPUTS[reading]:
        axis = {"question": "Q", "answer": "A"}.get(name.split("_")[0], "P")
        axes[name] = "B p two" if name.endswith("pieces") else f"B W {axis}"
    run_model_test(
        DAANet,
        {
            **duals.SIZES,
            "num_lstm_layers": 1,
            "encoder": subwords.encoder().layer,
            "encoder_use": use,
            "reading": reading,
        },
        x,
        compile_kwargs={
            "optimizer": "sgd",
            "loss": {n: SequenceMean() if "_" in n else SequenceNLL() for n in targets},
            "run_eagerly": True,  # tracing takes longest
        },
        targets=targets,
        axes=axes,
        output_axes={n: f"B {'a' if n.startswith('answer') else 'q'}" for n in targets},
        padded=[{"p": 2}, {"Q": 3, "A": 2, "P": 1}, {"W": 1}],
        precisions=(),  # the models of such a comparison would share the encoder that is trained
    )


@pytest.mark.parametrize("trained", ["none", 1, "all"])
def test_both_tasks_send_gradients_into_the_layers_that_are_trained(trained):
    model = made(of_encoder={"num_layers": 2, "trainable_layers": trained})
    x = batch("joint")
    paths = [v.path for v in model.trainable_variables]
    layers = {path.split("/")[1] for path in paths if path.startswith("encoder/")}
    own = {"transformer_layer_1"}
    if trained == "all":
        own |= {"transformer_layer_0", "token_embedding", "position_embedding"}
        own |= {"segment_embedding", "embeddings_layer_norm"}
    assert layers == (set() if trained == "none" else own)
    for task in TASKS:
        parts = gradients(lambda task=task: -ops.sum(model(x)[task]), model.trainable_variables)
        for path, part in zip(paths, parts, strict=True):
            if path.startswith(("encoder/", "passage_projection/")):
                assert part is not None and np.any(part), (task, path)
    before = {v.path: v.numpy() for v in model.encoder.variables if "seed" not in v.path}
    y = {n: duals.targets(x, n.split("_")[0]) for t in TASKS for n in (t, f"{t}_coverage")}
    model.compile(**training.daanet(model=model, steps=4, warmup_share=0.0), run_eagerly=True)
    model.train_on_batch(x, y)
    for variable in model.encoder.variables:
        if variable.path in before and "pooled" not in variable.path:
            moved = (variable.numpy() != before[variable.path]).any()
            assert moved == (variable.path in paths), variable.path


def test_without_an_encoder_nothing_is_added():
    plain = duals.small()
    assert not {"encoder", "passage_projection"} & {layer.name for layer in plain.layers}
    assert set(plain.input) == set(duals.batch(FOUR))
    alone = made(reading="separate", tasks=("ask",))
    x = batch("separate")
    np.testing.assert_allclose(
        alone(x)["ask"][0, :4], expected_alone(alone, x)[:4], rtol=3e-4, atol=5e-5
    )


def expected_alone(model, x):
    return expected(model, "ask", 0, vectors(model, x, "ask", 0))[0]


def test_wrong_arguments():
    for wrong in ({"encoder_use": "answer"}, {"reading": "both"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            duals.small(encoder=subwords.encoder(), **wrong)
