"""Extractive readers in Hugging Face's form: loading and saving."""

import json
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from tfmrc.encoders import Encoder
from tfmrc.encoders.hugging_face.config import config_of_encoder, family_of_config, is_transformers
from tfmrc.encoders.hugging_face.families import FAMILIES
from tfmrc.encoders.hugging_face.folder import load_layer, read_weights
from tfmrc.encoders.hugging_face.tokenizer import (
    TOKENIZER_CONFIG,
    load_tokenizer,
    read_optional_json,
)
from tfmrc.encoders.hugging_face.tokenizer_files import tokenizer_files
from tfmrc.encoders.hugging_face.weights import (
    Weight,
    dense_weights,
    norm_weights,
    weights_of_encoder,
)
from tfmrc.encoders.presets import build_subwords
from tfmrc.models import EvidenceReader, ExtractiveReader
from tfmrc.predictors.base import Predictor
from tfmrc.predictors.calibration import Calibration
from tfmrc.predictors.spans.span_answer import SpanAnswer
from tfmrc.preprocessing import EvidenceReaderPreprocessor, ExtractiveReaderPreprocessor
from tfmrc.storage.folders import check_target, new_folder
from tfmrc.storage.manifest import manifest_of, verify_files
from tfmrc.storage.parts import CALIBRATION
from tfmrc.utils.files import check_links, read_json, user_path
from tfmrc.utils.optional import optional_import

HUB = "hf://"
CONFIG, WEIGHTS = "config.json", "model.safetensors"
FILES = (CONFIG, "*.safetensors", "model.safetensors.index.json", "tokenizer*.json", "vocab*",
         "merges.txt", "added_tokens.json", "special_tokens_map.json", CALIBRATION)  # fmt: skip
PICKLE = "pytorch_model.bin"  # which a folder may have in place of safetensors
WINDOW = 384  # subwords of a window; consecutive windows share a third
TASKS = {
    "QuestionAnswering": (ExtractiveReader, ExtractiveReaderPreprocessor),
    "TokenClassification": (EvidenceReader, EvidenceReaderPreprocessor),
}
POSITIVE = ("1", "true", "positive", "relevant", "evidence", "highlight", "supported",
            "hallucinated", "hallucination", "unsupported")  # fmt: skip
LABELS = {"0": "O", "1": "EVIDENCE"}  # of a file that is written


def is_hugging_face(folder: str | PathLike[str]) -> bool:
    """Returns True for a folder in Hugging Face's form, or a name of its hub (`hf://`)."""
    if fspath(folder).startswith(HUB):
        return True
    path = user_path(folder) / CONFIG
    try:
        return is_transformers(read_optional_json(path))
    except ValueError:
        return False


def load_hugging_face(
    folder: str | PathLike[str], *, verify: bool = True, dtype: Any = None, **options: Any
) -> Predictor[SpanAnswer]:
    """Loads a model for question answering, or a token classifier, of Hugging Face.

    The kinds are `BertForQuestionAnswering`, `DistilBertFor...`, `ElectraFor...`,
    `RobertaFor...`, `XLMRobertaFor...`, `CamembertFor...`, `MPNetFor...`, `DebertaV2For...`,
    `AlbertFor...`, `MobileBertFor...` and `ModernBertFor...`; and `BertForTokenClassification` and
    so on, with one or two labels, as an evidence reader. Of two labels the second one is evidence,
    unless only the first one has a name such as "supported". Ids, offsets and scores are those of
    transformers with the components in `tokenizer.json`; only the space that ModernBERT's offsets
    begin with is not part of an answer. No code of the folder is run. A folder with another
    arithmetic or tokenizer than the supported ones is refused.

    Args:
        folder: str or path. A folder with `config.json`, `model.safetensors` and the tokenizer's
            files; or `hf://owner/name` for the hub, which needs the package huggingface_hub, with
            `@revision` behind it for a branch, tag or commit.
        verify: bool. Whether every file is compared with its digest first, in a folder that
            `save_hugging_face` wrote. Default: True.
        dtype: Keras dtype or policy of the model. Default: None.
        **options: Arguments of `ExtractiveReaderPreprocessor`, such as `window_length`. A detector
            that reads a context and an answer takes the context as its question, for which
            `question_length` makes room.

    Raises:
        FileNotFoundError: If the folder lacks a file.
        ValueError: If the model is of another kind, or its files are damaged.
        ImportError: If a package is not installed.
    """
    folder = local_folder(folder)
    check_links(folder)
    if verify and manifest_of(folder) is not None:
        verify_files(folder)
    config = read_json(folder / CONFIG)
    family = family_of_config(config)
    kinds = {f"{FAMILIES[family].transformers}For{task}": parts for task, parts in TASKS.items()}
    architectures = config.get("architectures") or []
    if len(architectures) != 1 or architectures[0] not in kinds:
        raise ValueError(
            f"{folder} must hold a {' or '.join(kinds)}, with a trained head. "
            f"Received: architectures={architectures!r}"
        )
    model_class, preprocessor_class = kinds[architectures[0]]
    facts, pieces, special = load_tokenizer(folder, FAMILIES[family], check=True)
    weights = read_weights(folder)
    layer = load_layer(
        folder, config, pieces.id_of(facts.pad), weights,
        dtype=dtype, preset={"name": folder.name},
    )  # fmt: skip
    positions = layer.backbone.max_sequence_length
    stated = read_optional_json(folder / TOKENIZER_CONFIG).get("model_max_length") or positions
    most = int(min(positions, stated))
    subwords = build_subwords(facts, pieces, positions, {"length": most}, special)
    sizes = {"window_length": min(most, WINDOW)}
    sizes["overlap"] = min(sizes["window_length"] // 2, 128)
    sizes["question_length"] = min(64, (sizes["window_length"] - sizes["overlap"]) // 2)
    preprocessor = preprocessor_class(encoder=Encoder(layer, subwords), **{**sizes, **options})
    model = model_class(encoder=layer, dtype=dtype)
    if isinstance(model, EvidenceReader):
        weights |= _of_one_label(weights, config)
    for weight in _head(model):
        weight.variable.assign(weight.from_file(weights[weight.name]))
    predictor: Predictor[SpanAnswer] = Predictor(model, preprocessor)
    if calibration := read_optional_json(folder / CALIBRATION):
        predictor.calibration = Calibration.from_json(calibration)
    return predictor


def local_folder(folder: str | PathLike[str]) -> Path:
    """Returns the folder itself, or that of a name of the hub (`hf://`), which is downloaded.

    Raises:
        FileNotFoundError: The model cannot be downloaded.
        ImportError: The package huggingface_hub is not installed.
    """
    name = fspath(folder)
    if not name.startswith(HUB):
        return user_path(folder)
    with optional_import("huggingface_hub"):
        import huggingface_hub
    name, _, revision = name.removeprefix(HUB).partition("@")
    for patterns in (FILES, (*FILES, PICKLE)):
        try:
            path = huggingface_hub.snapshot_download(
                name, revision=revision or None, allow_patterns=list(patterns)
            )
        except OSError as error:
            raise FileNotFoundError(
                f"{HUB}{name} cannot be downloaded; check the name and the connection, or give a "
                f"folder with the model's files. {error}"
            ) from error
        if any(Path(path).glob("*.safetensors")):
            break
    return Path(path)


def reader_files(folder: Path) -> list[Path]:
    """Returns the files of a folder that a reader consists of, in the order of their names.

    Other files, such as predictions that were written to the folder, are not among them.
    """
    paths = {path for pattern in (*FILES, PICKLE) for path in folder.glob(pattern)}
    return sorted(path for path in paths if path.is_file())


def save_hugging_face(predictor: Predictor[SpanAnswer], folder: str | PathLike[str]) -> Path:
    """Writes a reader in Hugging Face's form, which transformers loads with equal scores.

    Args:
        predictor: `ExtractiveReaderPredictor`. The reader.
        folder: str or path. The folder; one that was written so before is replaced.

    Returns:
        The folder.

    Raises:
        FileExistsError: If there is a file, a link, or a folder that holds something else.
        ImportError: If safetensors is not installed.
        ValueError: If the model is an ensemble, or the encoder mixes its layers: the form has
            neither.
    """
    with optional_import("tfmrc[encoders]"):
        from safetensors.numpy import save_file
    model, subwords = predictor.model, predictor.preprocessor.subwords
    if not isinstance(model, ExtractiveReader):
        raise ValueError(
            "Hugging Face's form has one encoder and one head: save each member of an ensemble. "
            f"Received: model={type(model).__name__}"
        )
    layer = model.encoder
    if layer.output_layers != "last":
        raise ValueError(
            "Hugging Face's form has the last layer of an encoder only: layers='last'. "
            f"Received: layers={layer.output_layers!r}"
        )
    name = FAMILIES[layer.family].transformers
    is_evidence = isinstance(model, EvidenceReader)
    task = "TokenClassification" if is_evidence else "QuestionAnswering"
    config = {"architectures": [f"{name}For{task}"], **config_of_encoder(layer)}
    files = {CONFIG: json.dumps(config, indent=2, sort_keys=True) + "\n"}
    files |= tokenizer_files(subwords, FAMILIES[layer.family], f"{name}Tokenizer")
    if predictor.calibration is not None:
        files[CALIBRATION] = json.dumps(predictor.calibration.to_json(), indent=2) + "\n"
    head = {w.name: w.to_file() for w in _head(model)}
    if is_evidence:  # the softmax of a score and 0 is its sigmoid
        scores = {n: head[n] for n in ("classifier.weight", "classifier.bias")}
        head |= {n: np.concatenate([np.zeros_like(values), values]) for n, values in scores.items()}
        config["id2label"] = LABELS
        config["label2id"] = {label: int(number) for number, label in LABELS.items()}
    arrays = weights_of_encoder(layer) | head
    arrays = {name: np.ascontiguousarray(array, np.float32) for name, array in arrays.items()}
    path = check_target(folder, _is_written)
    with new_folder(path, sum(array.nbytes for array in arrays.values())) as part:
        save_file(arrays, part / WEIGHTS, metadata={"format": "pt"})
        for name, text in files.items():
            (part / name).write_text(text, encoding="utf-8", newline="\n")
    return user_path(folder)


def _is_written(path: Path) -> bool:
    return is_hugging_face(path) and manifest_of(path) is not None


def _head(model: ExtractiveReader) -> list[Weight]:
    """Returns the variables between the encoder and the scores, with their names in the file."""
    module = model.answer_module
    head = module.prediction_head
    is_reader = head is None and not isinstance(model, EvidenceReader)
    scores = dense_weights("qa_outputs" if is_reader else "classifier", module.scores)
    if head is None:
        return [*scores]
    return [
        *dense_weights("head.dense", head.dense),
        *norm_weights("head.norm", head.norm),
        *scores,
    ]


def _of_one_label(
    weights: Mapping[str, np.ndarray], config: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """Returns the last layer of a token classifier with one score, the log-odds of evidence.

    Raises:
        ValueError: If there are more than two labels.
    """
    scores = {name: weights[name] for name in ("classifier.weight", "classifier.bias")}
    count = len(scores["classifier.weight"])
    labels = config.get("id2label") or {}
    names = [str(labels.get(str(number), number)) for number in range(count)]
    if count > 2:
        raise ValueError(
            "A token classifier must have one label, or evidence and its absence. "
            f"Received: labels={', '.join(names)}"
        )
    first, *others = (name.lower().removeprefix("label_") in POSITIVE for name in names)
    sign = -1 if first and others == [False] else 1
    return {n: sign * np.diff(v, axis=0) if others else v for n, v in scores.items()}
