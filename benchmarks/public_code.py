"""Training steps compared with public PyTorch code of the same papers.

    git clone https://github.com/kevinduh/san_mrc
    git clone https://github.com/seanie12/neural-question-generation
    pip install torch
    python -m benchmarks.public_code --san san_mrc --qg neural-question-generation

SAN's code is that of its authors. The authors of the maxout pointer published none; the code used
here is the best known. Both sides run in this process on the same synthetic batch (forward,
backward, clipping, update), alternating. The table has medians, quartiles and each time relative to
the first. CPU only, float32. The models differ in some layers (see `benchmarks/README.md`), so the
table includes their numbers of weights.

The public code is run unchanged, except for words that current Python and PyTorch no longer accept
(`REPLACED`), and packages that its models import but these runs do not need (`absent`).
"""

import argparse
import importlib
import os
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.lstm_speed import compared
from benchmarks.measuring import print_head, print_row

Step = Callable[[], float]
PASSAGE, QUESTION = 150, 20
SAN_SIZES = {"batch": 32, "words": 20_000, "word_dim": 300, "units": 128, "steps": 5}
QG_SIZES = {"batch": 64, "words": 45_000, "word_dim": 300}
# Widths of a direction of the encoder: the paper's and the public code's. The public code's decoder
# is twice as wide, ours equally wide.
WIDTHS = (600, 300)
TAGS = (54, 41)  # rows of part-of-speech tags and entity types in the authors' code
# Words of the public sources that current Python and PyTorch no longer accept.
REPLACED = {"async=True": "non_blocking=True", ".byte()": ".bool()"}


def main() -> None:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--san", type=Path, help="a checkout of kevinduh/san_mrc")
    parser.add_argument("--qg", type=Path, help="of seanie12/neural-question-generation")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import keras
    import tensorflow as tf
    import torch

    tf.config.threading.set_intra_op_parallelism_threads(options.threads)
    tf.config.threading.set_inter_op_parallelism_threads(options.threads)
    torch.set_num_threads(options.threads)
    keras.utils.set_random_seed(options.seed)
    torch.manual_seed(options.seed)
    print(
        f"{options.threads} threads, seed {options.seed}, TensorFlow {tf.__version__}, "
        f"Keras {keras.__version__}, PyTorch {torch.__version__}\n"
    )
    print_head("model", "code", "weights", "seconds per step (quartiles)", "times the first")
    with tempfile.TemporaryDirectory() as copies:
        if options.san:
            batch = _san_batch()
            sides = {"tfmrc": _our_san(batch), "public": _their_san(options.san, copies, batch)}
            _compare("SAN", sides, options.repeats)
        if options.qg:
            batch = _qg_batch()
            ours = {f"tfmrc, width {width}": _our_qg(batch, width) for width in WIDTHS}
            theirs = {
                f"public, width {width}": _their_qg(options.qg, copies, batch, width)
                for width in WIDTHS
            }
            _compare("maxout pointer", ours | theirs, options.repeats)


def _compare(model: str, sides: dict[str, tuple[Step, int]], repeats: int) -> None:
    for name, seconds, ratio in compared({n: step for n, (step, _) in sides.items()}, repeats, 2):
        loss = sides[name][0]()
        if not np.isfinite(loss):
            raise ValueError(f"A step's loss must be finite. Received: {name}, loss={loss}")
        print_row(model, name, f"{sides[name][1]:,}", seconds, ratio)


# === SAN ===


def _san_batch() -> dict[str, np.ndarray]:
    make = np.random.default_rng(1)
    count, words = SAN_SIZES["batch"], SAN_SIZES["words"]
    return {
        "passage_ids": make.integers(4, words, (count, PASSAGE)).astype("int32"),
        "question_ids": make.integers(4, words, (count, QUESTION)).astype("int32"),
        "pos_ids": make.integers(1, 40, (count, PASSAGE)).astype("int32"),
        "ner_ids": make.integers(1, 18, (count, PASSAGE)).astype("int32"),
        "exact_match": make.integers(0, 2, (count, PASSAGE, 3)).astype("float32"),
        "begin": make.integers(0, PASSAGE, count).astype("int32"),
        "end": make.integers(0, PASSAGE, count).astype("int32"),
    }


def _our_san(batch: dict[str, np.ndarray]) -> tuple[Step, int]:
    from tfmrc import models, training

    model = models.SAN(
        vocabulary_size=SAN_SIZES["words"],
        word_dim=SAN_SIZES["word_dim"],
        units=SAN_SIZES["units"],
        num_steps=SAN_SIZES["steps"],
        num_exact_match=3,
        num_pos=40,
        num_ner=18,
    )
    model.compile(**training.san(steps=5000, steps_per_epoch=100, model=model))
    return _fitted(model, batch, ("begin", "end"))


def _their_san(folder: Path, copies: str, batch: dict[str, np.ndarray]) -> tuple[Step, int]:
    import torch

    sizes = {"vectors": torch.rand(SAN_SIZES["words"], SAN_SIZES["word_dim"]), "exact_match": 3}
    sizes |= {"units": SAN_SIZES["units"], "steps": SAN_SIZES["steps"], "dropout": 0.4}
    network = public_san(folder, copies, **sizes, tags=TAGS)
    optimizer = torch.optim.Adamax([w for w in network.parameters() if w.requires_grad], 0.002)
    step = public_san_step(network, optimizer)
    return lambda: step(batch), weights_of(network)


def public_san(
    folder: Path,
    copies: str,
    vectors: Any,
    units: int,
    steps: int,
    exact_match: int,
    dropout: float,
    tags: tuple[int, int],
    word_dropout: float | None = None,
) -> Any:
    """Builds the authors' network, with the stochastic answer and without CoVe and ELMo.

    Args:
        folder: Path. A checkout of the authors' code.
        copies: str. Folder for a copy in which the words of `REPLACED` are replaced.
        vectors: Tensor of word vectors, `[words, dimensions]`.
        units: int. The paper's hidden size.
        steps: int. T.
        exact_match: int. Number of kinds of exact match.
        dropout: float. All dropout rates except that of the answer's steps (0.4).
        tags: pair of int. Rows of part-of-speech tags and entity types, with one for no tag; 0 for
            a network without them.
        word_dropout: float or None. Dropout rate of the word vectors; None for `dropout`.
            Default: None.
    """
    absent("allennlp.modules.elmo", Elmo=None)
    predictor = _imported(folder, ("src",), copies, "src.dreader")
    attention = {"hidden_size": units, "sim_func": "dotproductproject", "activation": "relu"}
    options: dict[str, Any] = {"cuda": False, "vb_dropout": True, "dropout_p": dropout}
    options |= {"dropout_emb": dropout if word_dropout is None else word_dropout}
    options |= {"dropout_cov": dropout, "pos_vocab_size": tags[0], "ner_vocab_size": tags[1]}
    options |= {"fix_embeddings": True, "tune_partial": 0, "covec_on": False}
    options |= {"vocab_size": len(vectors), "embedding_dim": vectors.shape[1]}
    options |= {"pos_on": tags[0] > 0, "ner_on": tags[1] > 0}
    options |= {"feat_on": True, "num_features": exact_match}
    options |= {"prealign_on": True, "prealign_bidi": False, "prealign_share": True}
    options |= {"prealign_scale_on": True, "pwnn_on": True, "pwnn_hidden_size": 2 * units}
    options |= {"contextual_hidden_size": units, "contextual_num_layers": 2}
    options |= {"msum_hidden_size": units, "deep_att_norm_on": True, "deep_att_share": True}
    options |= {"self_attention_on": True, "self_att_share": True, "self_att_drop_diagonal": True}
    options |= {"query_sum_att_type": "linear", "decoder_num_turn": steps}
    options |= {"decoder_mem_type": 1, "decoder_mem_drop_p": 0.4, "decoder_opt": 0}
    options |= {"decoder_att_type": "bilinear", "decoder_rnn_type": "gru", "elmo_size": 0}
    options |= {"elmo_on": False, "elmo_att_on": False, "elmo_self_att_on": False}
    for prefix in ("prealign", "deep_att", "self_att"):
        options |= {f"{prefix}_{name}": value for name, value in attention.items()}
    network = predictor.DNetwork(options, vectors)
    network.lexicon_encoder.eval_embed = network.lexicon_encoder.embedding
    _without_cove(network.lexicon_encoder)
    return network.train()


def public_san_inputs(network: Any, batch: dict[str, np.ndarray]) -> dict[str, Any]:
    """Converts our arrays to the inputs of the authors' network, which has no word features."""
    import torch

    names = {"passage_ids": "doc_tok", "question_ids": "query_tok"}
    names |= {"pos_ids": "doc_pos", "ner_ids": "doc_ner"}
    inputs = {names[n]: torch.from_numpy(v).long() for n, v in batch.items() if n in names}
    inputs["doc_mask"], inputs["query_mask"] = inputs["doc_tok"] == 0, inputs["query_tok"] == 0
    exact_match = batch["exact_match"][..., : network.opt["num_features"]]
    return inputs | {"doc_fea": torch.from_numpy(exact_match).float()}


def public_san_step(network: Any, optimizer: Any) -> Callable[[dict[str, np.ndarray]], float]:
    """Runs forward, backward, clipping and update of a batch; answers at -1 do not count."""
    import torch

    def step(batch: dict[str, np.ndarray]) -> float:
        begin, end, _ = network(public_san_inputs(network, batch))
        loss = torch.zeros(())
        for scores, name in ((begin, "begin"), (end, "end")):
            right = torch.from_numpy(batch[name]).long()
            loss = loss + torch.nn.functional.cross_entropy(scores, right, ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 5)
        optimizer.step()
        return loss.item()

    return step


def weights_of(network: Any) -> int:
    """Returns the number of trained weights of a PyTorch network."""
    return sum(weight.numel() for weight in network.parameters() if weight.requires_grad)


def _without_cove(encoder: Any) -> None:
    """Replaces missing CoVe vectors, which the network concatenates, by vectors of width 0."""
    forward = encoder.forward

    def widthless(batch: Any) -> list[Any]:
        outputs = list(forward(batch))
        for index, beside in ((4, 2), (5, 2), (6, 3), (7, 3)):
            if outputs[index] is None:
                outputs[index] = outputs[beside][..., :0]
        return outputs

    encoder.forward = widthless


# === Question generation ===


def _qg_batch() -> dict[str, np.ndarray]:
    make = np.random.default_rng(1)
    count, words = QG_SIZES["batch"], QG_SIZES["words"]
    passage = make.integers(4, words, (count, PASSAGE)).astype("int32")
    question = make.integers(4, words, (count, QUESTION + 1)).astype("int32")
    # A tenth of the passage's words cannot be generated: their positions are their extended ids.
    unknown = make.random(passage.shape) < 0.1
    extended = np.where(unknown, words + np.arange(PASSAGE), passage).astype("int32")
    return {
        "passage_ids": passage,
        "answer_tags": (np.arange(PASSAGE) // 3 == 5).astype("int32") * np.ones_like(passage),
        "extended_ids": extended,
        "question_ids": question[:, :-1],
        "target_ids": question[:, 1:],
    }


def _our_qg(batch: dict[str, np.ndarray], width: int) -> tuple[Step, int]:
    from tfmrc import models, training

    model = models.MaxoutPointerQG(
        vocabulary_size=QG_SIZES["words"],
        word_dim=QG_SIZES["word_dim"],
        hidden_dim=width,
        generation_vocabulary_size=QG_SIZES["words"],
    )
    model.compile(**training.maxout_pointer_qg(steps=2000, clip_norm=5.0, model=model))
    return _fitted(model, {**batch, "decoder": batch["target_ids"]}, ("decoder",))


def _their_qg(
    folder: Path, copies: str, batch: dict[str, np.ndarray], width: int
) -> tuple[Step, int]:
    import torch

    settings: dict[str, Any] = {
        "vocab_size": QG_SIZES["words"],
        "embedding_size": QG_SIZES["word_dim"],
    }
    settings |= {"hidden_size": width, "num_layers": 2, "dropout": 0.3}
    settings |= {"use_pointer": True, "freeze_embedding": True, "device": "cpu"}
    absent("config", **settings)
    absent("data_utils", UNK_ID=1)
    absent("torch_scatter", scatter_max=_scatter_max)
    public = _imported(folder, (".",), copies, "model")
    network = public.Seq2seq(torch.rand(QG_SIZES["words"], QG_SIZES["word_dim"]))
    network.train()
    weights = [weight for weight in network.parameters() if weight.requires_grad]
    optimizer = torch.optim.SGD(weights, 0.1, momentum=0.8)
    criterion = torch.nn.CrossEntropyLoss(ignore_index=0)
    tensors = {name: torch.from_numpy(value).long() for name, value in batch.items()}
    question = torch.cat([tensors["question_ids"], tensors["target_ids"][:, -1:]], 1)

    def step() -> float:
        logits = network(
            tensors["passage_ids"], tensors["answer_tags"], tensors["extended_ids"], question
        )
        loss = criterion(logits.flatten(0, 1), tensors["target_ids"].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimizer.step()
        return loss.item()

    return step, weights_of(network)


def _scatter_max(values: Any, index: Any, out: Any) -> tuple[Any, None]:
    """Replaces `torch_scatter.scatter_max` by PyTorch's own operation."""
    return out.scatter_reduce(1, index, values, "amax"), None


# === Both ===


def _fitted(model: Any, batch: dict[str, np.ndarray], targets: tuple[str, ...]) -> tuple[Step, int]:
    import tensorflow as tf

    x = {name: tf.constant(batch[name]) for name in model.input}
    y = {name: tf.constant(batch[name]) for name in targets}
    trained = sum(int(np.prod(weight.shape)) for weight in model.trainable_variables)
    return lambda: float(model.train_on_batch(x, y, return_dict=True)["loss"]), trained


def absent(name: str, **content: Any) -> None:
    """Registers a substitute of a module that the public code imports, unless it is installed."""
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        sys.modules.setdefault(".".join(parts[:end]), ModuleType(name))
    vars(sys.modules[name]).update(content)


def _imported(folder: Path, parts: tuple[str, ...], copies: str, module: str) -> Any:
    """Imports a module of a checkout from a copy in which the words of `REPLACED` are replaced."""
    copy = Path(copies, folder.name)
    for part in parts:
        target = copy / part
        target.mkdir(parents=True, exist_ok=True)
        for source in (folder / part).glob("*.py"):
            text = source.read_text(encoding="utf-8")
            for old, new in REPLACED.items():
                text = text.replace(old, new)
            (target / source.name).write_text(text, encoding="utf-8")
    random.seed(1)
    sys.path.insert(0, str(copy))
    return importlib.import_module(module)


if __name__ == "__main__":
    main()
