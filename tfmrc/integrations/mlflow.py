"""MLflow: a reader as a `pyfunc` model, for tracking servers, registries and `mlflow models serve`.

Needs `pip install tfmrc[mlflow]`.

MLflow stores this file's source with the model (its "models from code"), so that no pickle is
written or read. It is imported as a module to save a model, and run by MLflow to load one.
"""

import tempfile
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

__all__ = ["QuestionAnsweringModel", "log_model", "save_model"]

MODEL = "model"
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
        """Loads the predictor that is stored with the model."""
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


def save_model(model: Any, path: str | PathLike[str], **options: Any) -> None:
    """Saves a reader in MLflow's form.

    Args:
        model: A predictor, or str or path of what `tfmrc.load` loads, such as a run.
        path: str or path. The new folder.
        **options: Further arguments of `mlflow.pyfunc.save_model`, such as `pip_requirements`.

    Raises:
        mlflow.exceptions.MlflowException: The folder exists and is not empty.
    """
    with tempfile.TemporaryDirectory() as place:
        mlflow.pyfunc.save_model(path, **{**_arguments(model, Path(place)), **options})


def log_model(model: Any, name: str, **options: Any) -> Any:
    """Logs a reader to the active run of MLflow's tracking.

    Args:
        model: A predictor, or str or path of what `tfmrc.load` loads, such as a run.
        name: str. Name of the model in the run.
        **options: Further arguments of `mlflow.pyfunc.log_model`, such as
            `registered_model_name`.

    Returns:
        MLflow's `ModelInfo`.
    """
    with tempfile.TemporaryDirectory() as place:
        return mlflow.pyfunc.log_model(name=name, **{**_arguments(model, Path(place)), **options})


def _arguments(model: Any, place: Path) -> dict[str, Any]:
    predictor = tfmrc.load(model) if isinstance(model, str | PathLike) else model
    extras = "mlflow"
    if not isinstance(predictor, Predictor):  # an export
        folder = predictor.saved_model.path
    else:
        folder = predictor.save(place / MODEL)
        if getattr(predictor.preprocessor, "subwords", None) is not None:
            extras = "encoders,mlflow"  # KerasHub builds the encoder, in an export it is a graph
    return {
        "python_model": __file__,
        "artifacts": {MODEL: str(folder)},
        "signature": SIGNATURE,
        "pip_requirements": [f"tfmrc[{extras}]=={tfmrc.__version__}"],
    }


mlflow.models.set_model(QuestionAnsweringModel())
