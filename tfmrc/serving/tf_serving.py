"""The configuration files of TensorFlow Serving."""

import json
from os import PathLike
from pathlib import Path

from tfmrc.predictors.exported.versions import find_models
from tfmrc.storage.manifest import SAVED_MODEL
from tfmrc.utils.files import write_text

IMAGE = "tensorflow/serving:2.20.0"

MODELS = "# The models of this folder, as listed by tfmrc.\n"
MODEL = '  config {{ name: {} base_path: {} model_platform: "tensorflow" }}\n'

BATCHING = """\
# Simultaneous requests form a batch. All requests must have the same number of passages (pad with
# empty strings). Keep pad_variable_length_inputs off: TensorFlow Serving would pad a short row with
# copies of its first passage; `tfmrc serve` pads with empty strings.
# A short request waits for the long ones of its batch, so batches are small: a request has at most
# 8 rows, and while 16 batches wait, others are refused (UNAVAILABLE). Send long texts to another
# server.
max_batch_size { value: 8 }
batch_timeout_micros { value: 2000 }
max_enqueued_batches { value: 16 }
num_batch_threads { value: 2 }
"""

COMPOSE = """\
# TensorFlow Serving with the models of this folder: docker compose up
services:
  tensorflow-serving:
    image: "{image}"
    command:
      - "--model_config_file={base}/models.config"
      - "--model_config_file_poll_wait_seconds=60"
      - "--enable_batching=true"
      - "--batching_parameters_file={base}/batching.config"
    ports:  # this machine only
      - "127.0.0.1:8500:8500"  # gRPC
      - "127.0.0.1:8501:8501"  # REST
    volumes:
      - type: bind
        source: .
        target: "{base}"
        read_only: true
    restart: unless-stopped
    cap_drop: [ALL]
    security_opt: ["no-new-privileges:true"]
"""


def write_serving_config(
    folder: str | PathLike[str], served_from: str | None = None
) -> tuple[Path, Path, Path]:
    """Writes `models.config`, `batching.config` and `compose.yaml` for all exports below a folder.

    `compose.yaml` starts the official container of TensorFlow Serving with both files. Files that
    tfmrc wrote, recognised by their first line, are replaced.

    Args:
        folder: str or path. The folder with the exports `<name>/<version>/`.
        served_from: str or None. Path of the folder on the server, for instance `"/models"` in a
            container; None for the same path. Default: None.

    Returns:
        The three files.

    Raises:
        FileNotFoundError: If the folder does not exist.
        FileExistsError: If it has a file of one of these names that tfmrc did not write.
        ValueError: If it contains no export.
    """
    folder = Path(folder).absolute()
    # Unlike `tfmrc serve`, TensorFlow Serving needs a folder <name>/<version>/ for each.
    names = [name for name, path in find_models(folder).items() if path.parent == folder]
    names = [name for name in names if not (folder / name / SAVED_MODEL).is_file()]
    if not names:
        raise ValueError(f"There is no <name>/<version>/saved_model.pb. Received: folder={folder}")
    base = served_from or str(folder)
    models = "".join(MODEL.format(*map(json.dumps, (name, f"{base}/{name}"))) for name in names)
    contents = {
        "models.config": f"{MODELS}model_config_list {{\n{models}}}\n",
        "batching.config": BATCHING,
        "compose.yaml": COMPOSE.format(image=IMAGE, base=base),
    }
    for name, content in contents.items():
        _check_ours(folder / name, content)
    for name, content in contents.items():
        write_text(folder / name, content)
    return folder / "models.config", folder / "batching.config", folder / "compose.yaml"


def _check_ours(path: Path, content: str) -> None:
    """Raises a FileExistsError if a file exists whose first line is not that of the new content."""
    first = content.partition("\n")[0].encode()
    if path.exists() and path.read_bytes().partition(b"\n")[0].rstrip(b"\r") != first:
        raise FileExistsError(
            f"{path} was not written by tfmrc and is not replaced. Move it, or export to another "
            f"folder. Its first line would be: {first.decode()}"
        )
