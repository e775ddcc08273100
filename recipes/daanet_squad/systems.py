"""The systems of the paper's Tables 2 and 3, all with one face: DAANET, siblings, a baseline."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from recipes.daanet_squad.settings import Settings
from tfmrc import models, preprocessing, text, training
from tfmrc.data import Example
from tfmrc.models.daanet import TASKS, VARIANTS
from tfmrc.models.daanet_task import GIVEN, MADE
from tfmrc.models.maxout_pointer_qg import VARIANTS as SEQUENCE_TO_SEQUENCE
from tfmrc.predictors import DAANetPredictor, MaxoutPointerQGPredictor

SYSTEMS = (*VARIANTS, "s2s_answer", "s2s_ask")


class Dual:
    """DAANET: whole, of one task alone, or without one of its parts."""

    def __init__(self, predictor: DAANetPredictor):
        self.predictor = predictor
        self.tasks = predictor.model.tasks

    @classmethod
    def build(cls, settings: Settings, name: str, vocabulary: text.Vocabulary) -> "Dual":
        preprocessor = preprocessing.DAANetPreprocessor(
            vocabulary,
            passage_length=settings.passage_length,
            question_length=settings.question_length,
            answer_length=settings.answer_length,
            word_length=settings.word_length,
            generation_vocabulary_size=settings.generation_vocabulary_size,
        )
        model = models.DAANet(
            vocabulary_size=len(vocabulary),
            num_characters=preprocessor.num_characters,
            num_oov_buckets=vocabulary.num_oov_buckets,
            generation_vocabulary_size=preprocessor.generation_vocabulary_size,
            **VARIANTS[name],
            **settings.model,
        )
        return cls(DAANetPredictor(model, preprocessor))

    def compile_arguments(self, settings: Settings) -> dict[str, Any]:
        """What the model is compiled with."""
        return _daanet_training(settings, self.predictor.model)

    def records(self, examples: Sequence[Example]) -> list[Example]:
        """The examples as the preprocessor take them."""
        return list(examples)

    def write(
        self, task: str, examples: Sequence[Example], **options: Any
    ) -> Iterator[tuple[str, float]]:
        """The best answer or question of each example, and its probability."""
        predictions = self.predictor.predict(
            examples, task=task, batch_size=len(examples), **options
        )
        for best in predictions:
            yield best.text, best.probability or 0.0


class SequenceToSequence:
    """The baseline: an LSTM with attention reads what is given and the passage as one sequence.

    It is the model `s2s-a` of Zhao et al. 2018 (`tfmrc.models.MaxoutPointerQG`), which generates
    words and copies none, for answers as for questions. A full stop stands between the two texts.
    """

    def __init__(self, predictor: MaxoutPointerQGPredictor, task: str):
        self.predictor = predictor
        self.tasks = (task,)

    @classmethod
    def build(
        cls, settings: Settings, task: str, vocabulary: text.Vocabulary
    ) -> "SequenceToSequence":
        lengths = {"question": settings.question_length, "answer": settings.answer_length}
        preprocessor = preprocessing.MaxoutPointerQGPreprocessor(
            vocabulary,
            passage_length=lengths[GIVEN[task]] + 1 + settings.passage_length,
            question_length=lengths[MADE[task]],
            generation_vocabulary_size=settings.generation_vocabulary_size,
            with_answers=False,
        )
        model = models.MaxoutPointerQG(
            vocabulary_size=len(vocabulary),
            num_oov_buckets=vocabulary.num_oov_buckets,
            generation_vocabulary_size=preprocessor.generation_vocabulary_size,
            **SEQUENCE_TO_SEQUENCE["s2s-a"],
            **settings.baseline,
        )
        return cls(MaxoutPointerQGPredictor(model, preprocessor), task)

    def compile_arguments(self, settings: Settings) -> dict[str, Any]:
        """What the model is compiled with: its own loss, and the optimizer of DAANET."""
        made = training.maxout_pointer_qg(steps=settings.steps, model=self.predictor.model)
        return made | {"optimizer": _daanet_training(settings, self.predictor.model)["optimizer"]}

    def records(self, examples: Sequence[Example]) -> list[Example]:
        """Examples whose passage is the whole source, and whose question is to be written."""
        [task] = self.tasks
        return [
            Example(e.id, text_of(MADE[task], e), (_source(task, e),), group=e.group)
            for e in examples
        ]

    def write(
        self, task: str, examples: Sequence[Example], **options: Any
    ) -> Iterator[tuple[str, float]]:
        """The best answer or question of each example, and its probability."""
        predictions = self.predictor.predict(
            self.records(examples), batch_size=len(examples), **options
        )
        for best in predictions:
            yield best.text, best.probability or 0.0


def build(settings: Settings, name: str, vocabulary: text.Vocabulary) -> Dual | SequenceToSequence:
    """A system that is not trained yet."""
    if name in VARIANTS:
        return Dual.build(settings, name, vocabulary)
    return SequenceToSequence.build(settings, name.removeprefix("s2s_"), vocabulary)


def load(name: str, folder: Path) -> Dual | SequenceToSequence:
    """A trained system."""
    if name in VARIANTS:
        return Dual(DAANetPredictor.load(folder))
    return SequenceToSequence(MaxoutPointerQGPredictor.load(folder), name.removeprefix("s2s_"))


def tasks_of(name: str) -> tuple[str, ...]:
    """The tasks of a system: "answer", "ask" or both."""
    return tuple(VARIANTS[name].get("tasks", TASKS)) if name in VARIANTS else (name[len("s2s_") :],)


def text_of(kind: str, example: Example) -> str:
    """The question, or the first answer, of an example."""
    return example.question if kind == "question" else next(iter(example.answers.values()))[0]


def _source(task: str, example: Example) -> str:
    return " . ".join([text_of(GIVEN[task], example), *example.passages])


def _daanet_training(settings: Settings, model: Any) -> dict[str, Any]:
    return training.daanet(
        steps=settings.steps,
        learning_rate=settings.learning_rate,
        warmup_steps=settings.warmup_steps,
        clip_norm=settings.clip_norm,
        coverage_weight=settings.coverage_weight,
        model=model,
    )
