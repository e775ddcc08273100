"""Packaging of tfmrc; tool settings are in pyproject.toml, exact versions in requirements*.lock."""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
INIT = (HERE / "tfmrc" / "__init__.py").read_text(encoding="utf-8")
VERSION = re.search(r'^__version__ = "([^"]+)"$', INIT, re.MULTILINE).group(1)
PROJECT = "https://github.com/tfmrc/tfmrc"
# The page of a package registry has no files beside it: links and pictures lead to the project.
README = re.sub(
    r"(!?)(\[[^\]]*\]\()(?!\w+:|#)",
    lambda link: f"{link[1]}{link[2]}{PROJECT}/{'raw' if link[1] else 'blob'}/main/",
    (HERE / "README.md").read_text(encoding="utf-8"),
)

# docs/reference/dependencies.md says why each of them is here.
RUNTIME = [
    "keras>=3.15,<4",
    "numpy>=2.0",
    "tensorflow>=2.21,<2.22",
    "tensorflow-text>=2.21,<2.22",
    "filelock>=3.16",
    "ijson>=3.3",
    "keras-hub>=0.32",
    "lazy-loader>=0.4",
    "matplotlib>=3.9",
    "pycocoevalcap>=1.2",
    "pydantic>=2.10",
    "PyYAML>=6.0",
    "safetensors>=0.5",
    "tensorboard>=2.20",
    "tensorflow-serving-api>=2.21,<2.22",
]
# Encoders of SentencePiece's models and of TensorFlow Hub.
ENCODERS = ["sentencepiece>=0.2.1", "tensorflow-hub>=0.16.1"]
# The tokeniser of MS MARCO's own script, and the peer of the tokeniser's benchmark.
SPACY = ["spacy>=3.8"]
# A reader as a model of MLflow: the part of MLflow that saves, loads and logs models.
MLFLOW = ["mlflow-skinny>=3", "pandas>=2.2"]
# A reader as a component of Haystack's pipelines.
HAYSTACK = ["haystack-ai>=2.10"]
# Tables in Excel's and in Parquet form; other tables need nothing.
EXCEL = ["openpyxl>=3.1"]
PARQUET = ["pyarrow>=17"]
# `tfmrc predict --engine ray`: many files on many machines.
RAY = ["ray[data]>=2.60"]
# An index of PDF, Word and HTML files, and of texts that are not UTF-8.
DOCUMENTS = ["charset-normalizer>=3.4", "pypdfium2>=5", "python-docx>=1.2", "selectolax>=0.4"]
# An index of millions of passages, also in object storage.
LANCEDB = ["lancedb>=0.40"]
# `tfmrc mcp`: documents as tools of an assistant.
MCP = ["mcp>=2.3"]
# Readers computed by OpenVINO on CPUs; and what writes its files in int8, needed for that alone.
OPENVINO = ["openvino>=2026.1"]
INT8 = [*OPENVINO, "nncf>=3.1"]
# `tfmrc serve` and the clients.
SERVE = [
    "grpcio>=1.70",
    "httpx>=0.28",
    "prometheus-client>=0.21",
    "starlette>=1.0",
    "uvicorn>=0.40",
]
# `make docs`: the site, which shows what these rooms have.
DOCS = [
    *SERVE,
    *DOCUMENTS,
    *LANCEDB,
    "furo>=2025.9",
    "latex2mathml>=3.78",
    "myst-nb>=1.3",
    "sphinx>=8.2",
    "sphinx-copybutton>=0.5",
]
TEST = [
    *SERVE,
    *DOCUMENTS,
    *LANCEDB,
    *MCP,
    *OPENVINO,
    *SPACY,
    *ENCODERS,
    *EXCEL,
    *PARQUET,
    "coverage>=7.10.3",
    "greenlet>=3",
    "hypothesis>=6.100",
    "import-linter>=2.1",
    "jax>=0.5",
    "mypy>=1.15",
    "pandas>=2.2",
    "playwright>=1.50",
    "pytest>=8.3",
    "pytest-timeout>=2.3",
    "rouge-score>=0.1.2",
    "ruff>=0.11",
    "sacrebleu>=2.4",
    "tokenizers>=0.21",
    "types-PyYAML>=6.0",
    "uv>=0.7",
]

setup(
    name="tfmrc",
    version=VERSION,
    description="Machine reading comprehension with Keras 3: models that answer from passages.",
    long_description=README,
    long_description_content_type="text/markdown",
    url=PROJECT,
    # The code; the part of SQuAD in tfmrc/data/squad_files, and the reader that was trained on
    # such questions; the handbook.
    license="Apache-2.0 AND CC-BY-SA-4.0 AND CC0-1.0",
    license_files=["LICENSE", "tfmrc/data/squad_files/LICENSE"],
    python_requires=">=3.11",
    packages=[*find_packages(include=["tfmrc", "tfmrc.*"]), "tfmrc.recipes"],
    package_dir={"tfmrc.recipes": "recipes"},
    package_data={
        "tfmrc": [
            "py.typed",
            "**/*.pyi",
            "**/*.json",
            "**/*.jsonl",
            "**/*.txt",
            "**/*.yaml",
            "**/*.jsonl.gz",
            "data/handbook_files/**/*",
            "data/squad_files/*",
            "encoders/minilm_files/*",
            "predictors/ready/files/**/*",
            "serving/page_files/*",
        ],
        "tfmrc.recipes": ["*.yaml", "*/*.yaml"],
    },
    install_requires=RUNTIME,
    extras_require={
        "docs": DOCS,
        "documents": DOCUMENTS,
        "lancedb": LANCEDB,
        "mcp": MCP,
        "encoders": ENCODERS,
        "excel": EXCEL,
        "haystack": HAYSTACK,
        "int8": INT8,
        "mlflow": MLFLOW,
        "openvino": OPENVINO,
        "parquet": PARQUET,
        "ray": RAY,
        "serve": SERVE,
        "spacy": SPACY,
        "test": TEST,
    },
    entry_points={"console_scripts": ["tfmrc = tfmrc.cli:main"]},
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Science/Research",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
    ],
)
