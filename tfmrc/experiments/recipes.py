"""The YAML files that are shipped with tfmrc, in a checkout and in an installed package."""

from pathlib import Path

from tfmrc.utils.arguments import suggestion

_HERE = Path(__file__).resolve().parents[1]


def recipes_folder() -> Path | None:
    """Returns the folder of the recipes, in the package or beside it in a checkout, or None."""
    for folder in (_HERE / "recipes", _HERE.parent / "recipes"):
        if (folder / "reproduction" / "tables.yaml").is_file():
            return folder
    return None


def find_recipe(name: str) -> Path:
    """Finds a YAML file, or a recipe by its name.

    Args:
        name: str. A path, or the name of a shipped recipe, such as `san_squad` or
            `san_squad/paper_size`.

    Returns:
        The path of the file.

    Raises:
        ValueError: If there is neither; the message names the nearest recipe.

    Example:

    >>> find_recipe("san_squad").parts[-2:]
    ('san_squad', 'config.yaml')
    """
    path = Path(name)
    if path.is_file():
        return path
    folder = recipes_folder()
    if folder is not None:
        for inner in (name, f"{name}.yaml", f"{name}/config.yaml"):
            candidate = folder / inner.removeprefix("recipes/")
            if candidate.is_file():
                return candidate
    known = [] if folder is None else [path.parent.name for path in folder.glob("*/config.yaml")]
    raise ValueError(
        "Not a file or the name of a recipe" + suggestion(name, known) + f" Received: {name}"
    )


def recipe_name(path: Path) -> str:
    """Returns the shortest text by which `find_recipe` finds a file: the name of a shipped recipe.

    Args:
        path: Path. A YAML file. Any other file is named by its path.

    Example:

    >>> recipe_name(find_recipe("san_squad")), recipe_name(find_recipe("san_squad/paper_size"))
    ('san_squad', 'san_squad/paper_size')
    """
    folder = recipes_folder()
    if folder is None or not path.resolve().is_relative_to(folder.resolve()):
        return path.as_posix()
    name = path.resolve().relative_to(folder.resolve()).with_suffix("").as_posix()
    return name.removesuffix("/config")
