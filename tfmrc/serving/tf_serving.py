"""The configuration files of TensorFlow Serving."""

from os import PathLike
from pathlib import Path

__all__ = ["write_serving_config"]

BATCHING = """\
# Simultaneous requests are processed as one batch. All requests must have the same number of
# passages (pad with empty strings). pad_variable_length_inputs stays off: TensorFlow Serving would
# pad a short row with copies of its first passage.
max_batch_size { value: 32 }
batch_timeout_micros { value: 5000 }
max_enqueued_batches { value: 100 }
num_batch_threads { value: 2 }
"""


def write_serving_config(
    folder: str | PathLike[str], served_from: str | None = None
) -> tuple[Path, Path]:
    """Writes `models.config` and `batching.config` for all exports below a folder.

    Args:
        folder: str or path. The folder with the exports `<name>/<version>/`.
        served_from: str or None. Path of the folder on the server, for instance `"/models"` in a
            container; None for the same path. Default: None.

    Returns:
        Both files.

    Raises:
        ValueError: If the folder holds no export.
    """
    folder = Path(folder).absolute()
    names = sorted({path.parents[1].name for path in folder.glob("*/[0-9]*/saved_model.pb")})
    if not names:
        raise ValueError(f"There is no <name>/<version>/saved_model.pb. Received: folder={folder}")
    base = served_from or str(folder)
    entries = "".join(
        f'  config {{ name: "{name}" base_path: "{base}/{name}" model_platform: "tensorflow" }}\n'
        for name in names
    )
    models, batching = folder / "models.config", folder / "batching.config"
    models.write_text(f"model_config_list {{\n{entries}}}\n", encoding="utf-8")
    batching.write_text(BATCHING, encoding="utf-8")
    return models, batching
