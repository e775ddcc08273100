"""The files for TensorFlow Serving name the models that `tfmrc serve` serves."""

import pytest
from google.protobuf import text_format
from tensorflow_serving.config.model_server_config_pb2 import ModelServerConfig

from tfmrc.predictors.exported.versions import find_models
from tfmrc.serving import write_serving_config


def test_the_configuration_names_the_models_that_are_found(tmp_path):
    for path in ("hills/7", "hills/8.part", "valleys/1-backup", ".hidden/1", "rivers/12", "mill"):
        (tmp_path / path).mkdir(parents=True)
        (tmp_path / path / "saved_model.pb").touch()
    models, _, _ = write_serving_config(tmp_path, '/models "é"')
    message = text_format.Parse(models.read_text(encoding="utf-8"), ModelServerConfig())
    config = message.model_config_list.config
    assert [(each.name, each.base_path, each.model_platform) for each in config] == [
        (name, f'/models "é"/{name}', "tensorflow") for name in ("hills", "rivers")
    ]
    # `mill` has no version, which `tfmrc serve` does not need.
    assert list(find_models(tmp_path)) == ["hills", "mill", "rivers"]


@pytest.mark.parametrize("name", ["models.config", "batching.config", "compose.yaml"])
def test_a_file_of_somebody_else_is_kept(tmp_path, name):
    """`--to hills/7` writes them into the folder of the user's own project."""
    (tmp_path / "hills" / "7").mkdir(parents=True)
    (tmp_path / "hills" / "7" / "saved_model.pb").touch()
    (tmp_path / name).write_text("services: {database: {}}\n", encoding="utf-8")
    with pytest.raises(FileExistsError, match=f"{name} was not written by tfmrc"):
        write_serving_config(tmp_path)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [name]
    (tmp_path / name).unlink()
    assert write_serving_config(tmp_path) == write_serving_config(tmp_path)  # of its own
