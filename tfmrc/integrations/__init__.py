"""Models of tfmrc inside other packages: MLflow and Haystack.

Each module imports its package, so each needs its extra: `pip install tfmrc[mlflow]`,
`pip install tfmrc[haystack]`. Nothing else of tfmrc imports this room.
"""

__all__: list[str] = []
