"""Show versions, devices, extras and models.

Versions of the packages, the processor, memory and GPUs, the extras with an install line for each
that is missing, the ready models with their digests, and the folder where they are stored. Put this
into a report of a problem.
"""

import importlib.metadata
import json
import platform
import re
from argparse import ArgumentParser, Namespace
from pathlib import Path

PACKAGES = ("tensorflow", "tensorflow-text", "keras", "keras-hub", "numpy")
EXTRAS = {
    "documents": "an index of PDF, Word and HTML files",
    "serve": "tfmrc serve and its clients",
    "excel": "tables of Excel",
    "parquet": "tables in Parquet form",
    "encoders": "SentencePiece models, ELMo of TensorFlow Hub",
    "lancedb": "an index of millions of passages",
    "openvino": "readers in less time on CPUs",
    "int8": "readers in 8 bits for OpenVINO",
    "mcp": "tfmrc mcp",
    "ray": "tfmrc predict --engine ray",
    "mlflow": "readers in MLflow",
    "haystack": "readers in Haystack",
    "spacy": "the tokenizer of MS MARCO's evaluation",
}
"""What each extra is for, as docs/how-to/install.md lists them."""
INSTRUCTIONS = ("avx2", "avx512f", "avx_vnni", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8")
NVIDIA_DRIVER = Path("/proc/driver/nvidia/version")


def add_arguments(parser: ArgumentParser) -> None:
    """The command has no arguments."""


def run(options: Namespace) -> int:
    from tfmrc import __version__
    from tfmrc.cli.program import import_tensorflow

    print(f"tfmrc {__version__}, Python {platform.python_version()}, {platform.platform()}")
    print(", ".join(f"{name} {version_of(name) or 'missing'}" for name in PACKAGES))
    print("\nExtras")
    for extra, purpose in EXTRAS.items():
        missing = [name for name in requirements(extra) if not version_of(name)]
        state = f"missing: pip install 'tfmrc[{extra}]'" if missing else "installed"
        print(f"  {extra:<10} {purpose:<45} {state}")
    try:
        import_tensorflow()
    except ImportError as error:
        print(f"\nTensorFlow cannot be imported: {error}")
        return 1
    print_devices()
    return print_models()


def version_of(package: str) -> str | None:
    """Returns the version of an installed package, or None."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def requirements(extra: str) -> list[str]:
    """Returns the names of the packages of an extra."""
    required = importlib.metadata.requires("tfmrc") or ()
    mark = re.compile(rf"""extra == ["']{extra}["']""")
    return [re.split(r"[^\w.-]", line)[0] for line in required if mark.search(line)]


def print_devices() -> None:
    from tfmrc.experiments.environment import machine, summary
    from tfmrc.ops.portable import cpu_info

    facts = machine()
    print(f"\nDevices\n  {summary(facts)}")
    if known := cpu_info():
        flags = {*known.split()} & {*INSTRUCTIONS}
        print(f"  instructions: {', '.join(sorted(flags)) or 'no AVX2'}")
    if not facts["gpus"] and NVIDIA_DRIVER.exists():
        print("  NVIDIA's driver is installed, but TensorFlow finds no GPU:")
        print("  pip install 'tensorflow[and-cuda]>=2.21,<2.22'")


def print_models() -> int:
    """Prints the ready models; returns 1 if a file is damaged."""
    from tfmrc.predictors.ready import shipped
    from tfmrc.utils.files import sha256_of

    print("\nReady models")
    damaged = False
    for name in shipped.NAMES:
        folder = shipped.FILES / name
        digest = json.loads((folder / shipped.CARD).read_bytes())["difference"]
        intact = sha256_of(folder / shipped.DIFFERENCE) == digest
        print(f"  {name:<15} {'intact' if intact else 'damaged: install tfmrc again'}")
        damaged |= not intact
    stored = shipped.cache_folder()
    if stored.is_dir():
        size = sum(path.stat().st_size for path in stored.rglob("*") if path.is_file())
        print(f"  stored in {stored}, {size / 2**20:,.0f} MiB; it may be deleted")
    return int(damaged)
