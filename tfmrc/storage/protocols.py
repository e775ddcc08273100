"""What storage reads of a predictor: it names no predictor class."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import keras

from tfmrc.preprocessing import Preprocessor


class ExportablePredictor(Protocol):
    """The members of `tfmrc.Predictor` that saving and exporting read.

    Attributes:
        model: `keras.Model`. The model.
        preprocessor: `tfmrc.preprocessing.Preprocessor`. Its preprocessor.
        meanings: dict. Meanings of inputs and outputs that only this predictor has.
        default_options: dict. Options of prediction in place of the class's defaults.
        calibration: Calibration or None, with `to_json`.
        tasks: sequence of `tfmrc.predictors.Task`, which are dataclasses.
    """

    model: keras.Model
    preprocessor: Preprocessor
    default_options: dict[str, Any]
    calibration: Any

    @property
    def meanings(self) -> Mapping[str, str]: ...

    @property
    def tasks(self) -> Sequence[Any]: ...

    def get_config(self) -> dict[str, Any]:
        """Returns further plain constructor arguments."""

    def export_signatures(self, options: Any) -> dict[str, Any]:
        """Returns the exported `tf.function`s on plain strings, by name."""

    def with_confidence(self, signatures: Mapping[str, Any], options: Any) -> dict[str, Any]:
        """Returns signatures with calibrated probabilities and `is_confident`."""

    def max_length(self, options: Any) -> int:
        """Returns the greatest number of words of a prediction."""

    def warmup_request(self) -> dict[str, Any] | None:
        """Returns a small request of `serving_default`, or None."""
