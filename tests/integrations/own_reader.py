"""A predictor of a user's own, for `use_mlflow.py`."""

import keras

from tfmrc.predictors import SANPredictor


@keras.saving.register_keras_serializable(package="own")
class OwnReader(SANPredictor):
    """SAN's predictor under another name."""
