"""MLflow: a reader as a `pyfunc` model, for tracking servers, registries and `mlflow models serve`.

Needs `pip install tfmrc[mlflow]`.

MLflow stores this file's source with the model (its "models from code"), so that no pickle is
written or read. It is imported as a module to save a model, and run by MLflow to load one.
"""

import importlib
import tempfile
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import mlflow
import pandas as pd
from mlflow.models import ModelSignature
from mlflow.pyfunc import PythonModel, PythonModelContext
from mlflow.types import ColSpec, DataType, ParamSchema, ParamSpec, Schema

import tfmrc
from tfmrc.predictors import Predictor
from tfmrc.utils.run_imports import run_imports

MODEL = "model"
CONFIG, IMPORTS = "model_config", "imports"  # MLflow's argument, and what is ours in it
OURS = ("tfmrc", "keras", "__main__")  # packages that need no import, or cannot be imported
STRING, DOUBLE, LONG = DataType.string, DataType.double, DataType.long
SIGNATURE = ModelSignature(
    inputs=Schema([ColSpec(STRING, "question"), ColSpec(STRING, "context")]),
    outputs=Schema(
        [
            ColSpec(STRING, "answer"),
            ColSpec(DOUBLE, "score"),
            ColSpec(LONG, "start"),
            ColSpec(LONG, "end"),
        ]
    ),
    params=ParamSchema([ParamSpec("batch_size", LONG, 16)]),
)


class QuestionAnsweringModel(PythonModel):
    """Answers the questions of a data frame, by `tfmrc.pipeline("question-answering")`.

    The input has the columns `question` and `context`, the output one row for each question with
    the columns `answer`, `score`, `start` and `end` (characters of the context). The parameter is
    `batch_size`.
    """

    def load_context(self, context: PythonModelContext) -> None:
        """Imports the modules of the classes, and loads the predictor of the model.

        Raises:
            ModuleNotFoundError: A module is neither stored with the model nor installed.
        """
        _import((context.model_config or {}).get(IMPORTS, ()))
        self.answerer = tfmrc.pipeline("question-answering", context.artifacts[MODEL])

    def predict(
        self,
        context: PythonModelContext,
        model_input: pd.DataFrame,
        params: dict[str, Any] | None = None,
    ) -> pd.DataFrame:
        """Returns the answers, in the order of the questions.

        Raises:
            ValueError: A question or a context is empty or missing.
        """
        columns = [column.name for column in SIGNATURE.outputs]
        questions, contexts = model_input["question"].tolist(), model_input["context"].tolist()
        answers = self.answerer(question=questions, context=contexts, **(params or {}))
        return pd.DataFrame(answers, columns=columns, index=model_input.index)


def save_model(
    model: Any, path: str | PathLike[str], *, imports: Sequence[str] | None = None, **options: Any
) -> None:
    """Saves a reader in MLflow's form.

    Args:
        model: A predictor, or str or path of what `tfmrc.load` loads, such as a run.
        path: str or path. The new folder.
        imports: list of str or None. Modules that define the classes of a predictor of your own;
            they are imported before it is loaded. None for the `imports` of a run, and the modules
            of the predictor, its model and its preprocessor. Default: None.
        **options: Further arguments of `mlflow.pyfunc.save_model`, such as `pip_requirements`, or
            `code_paths` with the files of the modules.

    Raises:
        mlflow.exceptions.MlflowException: The folder exists and is not empty.
        ModuleNotFoundError: A module is not found.
        ValueError: The model does not answer questions.
    """
    with tempfile.TemporaryDirectory() as place:
        mlflow.pyfunc.save_model(path, **_arguments(model, Path(place), imports, options))


def log_model(
    model: Any, name: str, *, imports: Sequence[str] | None = None, **options: Any
) -> Any:
    """Logs a reader to the active run of MLflow's tracking.

    Args:
        model: A predictor, or str or path of what `tfmrc.load` loads, such as a run.
        name: str. Name of the model in the run.
        imports: list of str or None. As for `save_model`. Default: None.
        **options: Further arguments of `mlflow.pyfunc.log_model`, such as
            `registered_model_name`.

    Returns:
        MLflow's `ModelInfo`.
    """
    with tempfile.TemporaryDirectory() as place:
        arguments = _arguments(model, Path(place), imports, options)
        return mlflow.pyfunc.log_model(name=name, **arguments)


def _arguments(
    model: Any, place: Path, imports: Sequence[str] | None, options: dict[str, Any]
) -> dict[str, Any]:
    is_folder = isinstance(model, str | PathLike)
    modules = list(imports or (run_imports(model) if imports is None and is_folder else ()))
    _import(modules)
    predictor = tfmrc.load(model) if is_folder else model
    tfmrc.pipeline("question-answering", predictor)  # raises unless it answers questions
    if imports is None and isinstance(predictor, Predictor):
        modules = _with_modules_of(predictor, modules)
    extras = "mlflow"
    if not isinstance(predictor, Predictor):  # an export
        folder = predictor.saved_model.path
    else:
        folder = predictor.save(place / MODEL)
        if getattr(predictor.preprocessor, "subwords", None) is not None:
            extras = "encoders,mlflow"  # KerasHub builds the encoder, in an export it is a graph
    arguments = {
        "python_model": __file__,
        "artifacts": {MODEL: str(folder)},
        "signature": SIGNATURE,
        "pip_requirements": [f"tfmrc[{extras}]=={tfmrc.__version__}"],
        **options,
    }
    config = arguments.get(CONFIG) or {}
    if modules and isinstance(config, dict):  # a file has its own
        arguments[CONFIG] = {IMPORTS: modules, **config}
    return arguments


def _with_modules_of(predictor: Predictor[Any], modules: Iterable[str]) -> list[str]:
    """Returns the modules, and those of a user's own classes."""
    parts = (predictor, predictor.model, predictor.preprocessor)
    own = (type(part).__module__ for part in parts)
    return list(dict.fromkeys([*modules, *(m for m in own if m.partition(".")[0] not in OURS)]))


def _import(modules: Iterable[str]) -> None:
    for name in modules:
        importlib.import_module(name)


mlflow.models.set_model(QuestionAnsweringModel())
