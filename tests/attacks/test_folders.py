"""Folders of strangers: nothing of them is executed, nothing outside of them is read or written."""

import json
import os
import pickle

import h5py
import keras
import numpy as np
import pytest

import tfmrc
from tests.attacks import models as small_models
from tfmrc import training
from tfmrc.storage.manifest import write_manifest
from tfmrc.training.callbacks.state_file import read_state

pytestmark = pytest.mark.usefixtures("without_graphs")


class Trap:
    """Unpickling it creates a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.fixture
def trap(tmp_path):
    """A path that must not exist at the end."""
    path = tmp_path / "sprung"
    yield path
    assert not path.exists()


@pytest.fixture
def saved(tmp_path):
    return small_models.toy().save(tmp_path / "predictor")


def refused(saved, words):
    """The folder is refused, with right digests too: whoever writes a folder writes its digests."""
    (saved / "manifest.json").unlink(missing_ok=True)
    write_manifest(saved)
    for verify in (True, False):
        with pytest.raises((TypeError, ValueError, OSError), match=words):
            tfmrc.load(saved, verify=verify)


def test_pickles_in_the_place_of_weights_and_states(saved, trap, tmp_path):
    (saved / "model.weights.h5").write_bytes(pickle.dumps(Trap(trap)))
    refused(saved, "does not fit the model of .*, or is damaged")
    path = tmp_path / "step-0000000001-00000.npz"
    np.savez(path, weight=np.array([Trap(trap)], dtype=object))
    with pytest.raises(ValueError):
        read_state(path)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    with pytest.raises((ValueError, OSError)):
        training.load_weights(model, saved / "model.weights.h5")


def test_pickles_within_the_weights(saved, trap):
    """HDF5 holds arrays: a pickle in one of them is so many bytes."""
    content = np.frombuffer(pickle.dumps(Trap(trap)), np.uint8)
    with h5py.File(saved / "model.weights.h5", "r+") as file:
        path = next(name for name in _arrays(file))
        del file[path]
        file[path] = content
    refused(saved, "does not fit the model")


def _arrays(file):
    names = []
    file.visititems(lambda name, node: names.append(name) if hasattr(node, "dtype") else None)
    return names


@pytest.mark.parametrize("kind", ["link", "external", "virtual"])
def test_weights_that_lead_to_another_file(saved, tmp_path, kind):
    """The file outside fits, so that reading it would succeed."""
    weights = saved / "model.weights.h5"
    outside = tmp_path / "outside.h5"
    with h5py.File(weights, "r+") as file:
        path = _arrays(file)[0]
        array = file[path][...]
        with h5py.File(outside, "w") as other:
            other["secret"] = array
        (tmp_path / "outside.bin").write_bytes(array.tobytes())
        del file[path]
        if kind == "link":
            file[path] = h5py.ExternalLink(str(outside), "/secret")
        elif kind == "external":
            size = array.nbytes
            file.create_dataset(
                path, array.shape, array.dtype, external=[(str(tmp_path / "outside.bin"), 0, size)]
            )
        else:
            layout = h5py.VirtualLayout(array.shape, array.dtype)
            layout[...] = h5py.VirtualSource(str(outside), "secret", array.shape)
            file.create_virtual_dataset(path, layout)
    refused(saved, "does not fit the model|leads out of the file")


@pytest.mark.parametrize("name", ["model.weights.h5", "assets/vocabulary.txt", "config.json"])
def test_links_out_of_the_folder(saved, tmp_path, name):
    path = saved / name
    outside = path.rename(tmp_path / "outside")
    path.symlink_to(outside)
    refused(saved, "leads out of the folder")


def test_links_within_the_folder_are_read(saved):
    """As in a cache of files that are named by their digests."""
    weights = (saved / "model.weights.h5").rename(saved / "blob")
    (saved / "model.weights.h5").symlink_to(weights.name)
    (saved / "manifest.json").unlink()
    write_manifest(saved)
    assert tfmrc.load(saved).model.count_params() > 0


@pytest.mark.parametrize("part", ["predictor", "model", "preprocessor"])
def test_lambda_layers_and_functions_in_the_configuration(saved, trap, part):
    code = keras.layers.Lambda(lambda x: (os.mkdir("sprung"), x)[1]).get_config()
    layer = {"class_name": "Lambda", "module": "keras.layers", "config": code}
    function = {"class_name": "function", "module": "os", "config": "mkdir"}
    config = json.loads((saved / "config.json").read_text())
    for value in (layer, function, {"class": "keras.layers>Lambda", "config": code}):
        changed = {**config, part: value}
        (saved / "config.json").write_text(json.dumps(changed))
        refused(saved, "class that is not registered")
        inner = {**config[part], "config": {**config[part]["config"], "name": value}}
        (saved / "config.json").write_text(json.dumps({**config, part: inner}))
        refused(saved, "does not describe a|unexpected keyword|must be|class|name")


def test_an_asset_with_another_name_is_not_read(saved, tmp_path):
    (tmp_path / "secret.txt").write_text("secret\n")
    config = json.loads((saved / "config.json").read_text())
    settings = config["preprocessor"]["config"]
    for name in ("../../secret.txt", str(tmp_path / "secret.txt")):
        for key in ("vocabulary", "folder", "assets", "path"):
            changed = {**config["preprocessor"], "config": {**settings, key: name}}
            (saved / "config.json").write_text(json.dumps({**config, "preprocessor": changed}))
            refused(saved, "does not describe a ToyPreprocessor")


def test_links_in_an_export_are_refused(tmp_path):
    exported = small_models.toy().export(tmp_path / "toy" / "1")
    [asset] = (exported / "assets").iterdir()
    outside = asset.rename(tmp_path / "outside")
    asset.symlink_to(outside)
    for verify in (True, False):
        with pytest.raises(ValueError, match="leads out of the folder"):
            tfmrc.load(exported.parent, verify=verify)
