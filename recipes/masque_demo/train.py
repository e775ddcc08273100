"""Train Masque on the shipped corpus, or go on where a stopped run stands."""

from pathlib import Path

from recipes.masque_demo.blind import write_blind_corpus
from tfmrc import experiments as recipes
from tfmrc.data import corpus
from tfmrc.experiments import run_folder as places

CONFIG = Path(__file__).with_name("config.yaml")
CORPUS = Path(corpus.__file__).parent / "corpus_files"


def data_of(run: Path, blind: str | None) -> Path:
    """The folder of the examples: the shipped corpus, or the blind one in the run's folder."""
    return CORPUS if blind is None else run / "data"


def train(recipe: recipes.Recipe, run: Path, blind: str | None = None, fresh: bool = False) -> None:
    """Train; a run that is trained already is left as it is.

    Args:
        recipe: the recipe.
        run: the run's folder.
        blind: what is hidden from the model: None, `"question"` or `"passages"`.
        fresh: drop what the folder holds.

    Raises:
        ValueError: the folder holds a run of other settings.
    """
    places.open_run(recipe, run, fresh)
    if (run / places.TRAINING).is_file():
        print(f"{run} is trained already (--fresh trains anew).")
        return
    if blind is not None:
        write_blind_corpus(data_of(run, blind), blind)
    recipes.train(recipe, data=data_of(run, blind), run=run)
