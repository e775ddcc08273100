"""The files for TensorFlow Serving name the models that `tfmrc serve` serves."""

import pytest

from tfmrc.serving import write_serving_config
from tfmrc.serving.model_config import find_models, read_model_config


def test_the_configuration_names_the_models_that_are_found(tmp_path):
    for path in ("hills/7", "hills/8.part", "valleys/1-backup", ".hidden/1", "rivers/12", "mill"):
        (tmp_path / path).mkdir(parents=True)
        (tmp_path / path / "saved_model.pb").touch()
    models, _, _ = write_serving_config(tmp_path)
    assert [model.name for model in read_model_config(models)] == ["hills", "rivers"]
    # `mill` has no version, which `tfmrc serve` does not need.
    assert [model.name for model in find_models(tmp_path)] == ["hills", "mill", "rivers"]


@pytest.mark.parametrize("folder", ["valleys", "hills", "hills/7"])
def test_a_folder_without_models_below_it_is_refused(tmp_path, folder):
    for path in ("hills/7", "valleys/1-backup"):
        (tmp_path / path).mkdir(parents=True)
        (tmp_path / path / "saved_model.pb").touch()
    with pytest.raises(ValueError, match=r"no <name>/<version>/.* Received: folder="):
        write_serving_config(tmp_path / folder)
