"""Base class of all predictors: batches, signatures, saving, loading and export."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import keras
import tensorflow as tf

from tfmrc.data import Example, Span
from tfmrc.evaluation import CalibrationReport
from tfmrc.predictors import calibration as calibrations, openvino as engine, registry
from tfmrc.predictors.exported.inputs import check_names, one_row, status_message, tensors_of
from tfmrc.predictors.exported.queries import read_result
from tfmrc.predictors.options import DecodingOptions
from tfmrc.predictors.process import NotPickled, check_backend, check_process, this_process
from tfmrc.predictors.protocols import check_members
from tfmrc.predictors.results.attention import Attention, attention_of
from tfmrc.predictors.results.result import Result
from tfmrc.predictors.task import Query, Task, stream_of_passages
from tfmrc.preprocessing import Preprocessor
from tfmrc.storage.export import export_saved_model
from tfmrc.storage.parts import load_parts, save_parts
from tfmrc.storage.warmup import ANSWER, PASSAGES, QUESTION
from tfmrc.utils.arguments import check_arguments, parameters_of
from tfmrc.utils.batches import batches_of

R = TypeVar("R", bound=Result)


class Predictor(NotPickled, Generic[R]):
    """A model and its preprocessor: strings in, answers or questions out.

    `Predictor(model, preprocessor)` returns the subclass that is declared for the class of the
    preprocessor: a `MasquePredictor`, `SANPredictor`, `MaxoutPointerQGPredictor`,
    `DAANetPredictor`, `ExtractiveReaderPredictor`, or a user's own. All have the same methods.

    A subclass declares `model_class`, `preprocessor_class` and `options_class`, and defines
    `build_signatures`; `tasks`, `inputs_of`, `predict_batch` and `warmup_request` have the usual
    form. A subclass that is saved must be registered with
    `keras.saving.register_keras_serializable`, as must its model and preprocessor.

    The keyword arguments `**options` are the fields of `options_class`. The graphs of each
    combination are built once and cached. They use the current weights of the model. To use an
    optimizer's moving average during training, see `tfmrc.training.ema_weights`.

    Args:
        model: The model.
        preprocessor: The preprocessor that it was trained with.

    Attributes:
        only_asks: bool. Whether a model of this class asks questions and answers none, so that
            `spans: exact` of an experiment also selects test examples by their answer.
            Default: False.
        model_protocol, preprocessor_protocol: Protocols of what the predictor calls of its parts
            (`tfmrc.models.protocols`, `tfmrc.preprocessing.protocols`), checked when it is made.
            Default: object, nothing.
        meanings: dict. Meanings of inputs and outputs for the model card, beside those that all
            predictors have (`tfmrc.storage.model_card`). Default: {}.
        model: The model.
        preprocessor: The preprocessor.
        metrics: dict. Measured results of the model, saved and exported with it.
        default_options: dict. Options in place of the defaults of `options_class`, saved with the
            model. Default: {}.
        runtime: str. What computes the model: "tensorflow", "openvino", or "auto", as
            of `tfmrc.load`, which sets it. Default: "tensorflow".
        calibration: `tfmrc.predictors.Calibration` or None. Maps the probabilities of answers, in
            every graph; saved and exported with the model. Training that starts from the model
            keeps it. Default: None.

    Raises:
        ValueError: If model and preprocessor disagree on a size.
        RuntimeError: In a process that was forked after a predictor was made or loaded; or strings
            are given while Keras runs on another backend than TensorFlow.

    Example:

    >>> import tfmrc
    >>> from tfmrc import models, preprocessing, text
    >>> words = text.Vocabulary("how tall is k2 metres".split())
    >>> preprocessor = preprocessing.SANPreprocessor(words)
    >>> model = models.SAN(vocabulary_size=9, word_dim=8, units=4, align_dim=4)
    >>> predictor = tfmrc.Predictor(model, preprocessor)
    >>> predictor
    <SANPredictor of 'san', tasks: answer>
    >>> passage = "K2 is 8,611 metres high."
    >>> answer = predictor.answer(question="How tall is K2?", passages=[passage])
    >>> answer.text == passage[answer.start : answer.end]
    True
    """

    model_class: ClassVar[type]
    preprocessor_class: ClassVar[type]
    options_class: ClassVar[type] = DecodingOptions
    only_asks: ClassVar[bool] = False
    model_protocol: ClassVar[type] = object
    preprocessor_protocol: ClassVar[type] = object
    meanings: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        registry.declare(cls)

    def __new__(
        cls, model: keras.Model, preprocessor: Preprocessor, *arguments: Any, **options: Any
    ) -> Self:
        """Creates the subclass that is declared for the preprocessor's class."""
        if cls is Predictor:
            cls = registry.find_predictor_class(type(model), type(preprocessor))
        return super().__new__(cls)

    def __init__(self, model: keras.Model, preprocessor: Preprocessor):
        self.model = model
        self.preprocessor: Any = preprocessor  # each paper's has sizes of its own
        self.metrics: dict[str, Any] = {}
        self.default_options: dict[str, Any] = {}
        self.calibration: calibrations.Calibration | None = None
        self._runtime = "tensorflow"
        self._signatures: dict[Any, dict[str, Any]] = {}
        self._process = this_process()
        self.check_agreement()
        self._warn_of_untrained()

    def _warn_of_untrained(self) -> None:
        trained = getattr(self.model, "trained_outputs", None)
        if trained is None:
            return
        penalties = getattr(self.model, "PENALTIES", ())
        missing = [name for name in self.model.output if name not in (*trained, *penalties)]
        if missing:
            warnings.warn(
                f"`fit` had no loss or no label for {', '.join(missing)}: it was not trained, "
                "and results and exports leave it out. If it was trained before, set the model's "
                "`trained_outputs` to None.",
                stacklevel=4,
            )

    def __repr__(self) -> str:
        tasks = ", ".join(task.name for task in self.tasks) or "none"
        return f"<{type(self).__name__} of {self.model.name!r}, tasks: {tasks}>"

    # === Declared by a paper ===

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks of the predictor; the first one is the default."""
        name, target = ("ask", "question") if self.only_asks else ("answer", "answer")
        return (Task(name, target, self.preprocessor.styles[0]),)

    def build_signatures(self, options: Any) -> dict[str, Any]:
        """Returns each `tf.function` on plain strings by name; one of them is `"serving_default"`.

        Each has an `input_signature` of named `tf.TensorSpec` objects, and returns a dict of
        tensors. An output `is_confident` bool `[B]` is the model's own rule without a threshold.

        Args:
            options: An instance of `options_class`.
        """
        raise NotImplementedError(f"{type(self).__name__} must define `build_signatures`.")

    def export_signatures(self, options: Any) -> dict[str, Any]:
        """Returns the exported signatures, if they have fewer inputs than `build_signatures`."""
        return self.build_signatures(options)

    def inputs_of(self, queries: Sequence[Query], task: Task) -> tuple[str, dict[str, list[Any]]]:
        """Returns the name of a task's signature, and its inputs for requests.

        Args:
            queries: list of `Query`. The requests.
            task: `Task`. One of `tasks`.
        """
        names = ("passage", "answer") if task.target == "question" else ("question", "passages")
        inputs = {name: [getattr(query, name) for query in queries] for name in names}
        return "serving_default", inputs

    def predict_batch(
        self, queries: Sequence[Query], task: Task, options: Mapping[str, Any]
    ) -> Iterable[R]:
        """Returns one result per request, in their order.

        Args:
            queries: list of `Query`. The requests.
            task: `Task`. One of `tasks`.
            options: dict. Fields of `options_class`.
        """
        signature, inputs = self.inputs_of(queries, task)
        outputs = self.run(signature, inputs, **options)
        for row, query in enumerate(queries):
            answer = query.answer if task.target == "question" else None
            yield read_result(outputs, row, len(query.passages), answer)

    def max_length(self, options: Any) -> int:
        """Returns the greatest number of words of a prediction, for the model card."""
        return options.max_length or self.preprocessor.answer_length

    def warmup_request(self) -> dict[str, Any] | None:
        """Returns a request of `serving_default` that a server runs at start-up, or None."""
        if self.preprocessor.annotations:
            return None
        if self.tasks[0].target == "question":
            return {"passage": [PASSAGES[0]], "answer": [ANSWER]}
        return {"question": [QUESTION], "passages": [list(PASSAGES)]}

    def complete(self, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns the inputs of a signature, completed by those that the predictor computes."""
        return inputs

    @property
    def network(self) -> Any:
        """The network that the graphs compute: the model, or a reader's network in OpenVINO."""
        return self.model

    # === The same for every paper ===

    @property
    def runtime(self) -> str:
        """What computes the model: "tensorflow", "openvino" or "auto"."""
        return self._runtime

    @runtime.setter
    def runtime(self, runtime: engine.Runtime) -> None:
        engine.check_runtime(runtime, self.model)
        self._runtime = runtime

    def is_trained(self, output: str) -> bool:
        """Returns True if an output of the model had a label in training, or if this is unknown.

        Others are left out of results and exports, because their numbers are meaningless.
        """
        trained = getattr(self.model, "trained_outputs", None)
        return trained is None or output in trained

    def answer(
        self,
        *,
        question: str,
        passages: str | Sequence[str],
        style: str | None = None,
        **options: Any,
    ) -> R:
        """Answers one question.

        Args:
            question: str. The question.
            passages: str or list of str. The passages to answer from.
            style: str or None. The answer style; None for the first one. Default: None.
            **options: Fields of `options_class`.

        Returns:
            The answer, with `alternatives` if `num_return_sequences` is above 1.

        Raises:
            ValueError: If the predictor does not answer questions, or not in this style.
        """
        query = Query(question, tuple(stream_of_passages(passages)))
        return self._single(query, self._task_for("answer", style), options)

    def ask(
        self, *, passage: str, answer: str, answer_start: int | None = None, **options: Any
    ) -> R:
        """Generates a question about an answer.

        Args:
            passage: str. The passage.
            answer: str. The answer to ask about.
            answer_start: int or None. Offset of its first character in the passage; None for its
                first occurrence. Models that do not locate answers ignore it. Default: None.
            **options: Fields of `options_class`.

        Returns:
            The question, with `alternatives` if `num_return_sequences` is above 1.

        Raises:
            ValueError: If the predictor does not generate questions, or the answer does not occur
                in the passage.
        """
        start = -1 if answer_start is None else answer_start
        query = Query("", (passage,), answer, answer_start=start)
        return self._single(query, self._task_for("question", None), options)

    def attention(
        self,
        *,
        passages: str | Sequence[str],
        question: str | None = None,
        answer: str | None = None,
        answer_start: int | None = None,
        style: str | None = None,
        **options: Any,
    ) -> dict[str, Attention]:
        """Returns the attention weights of the model beside their words, by name.

        Args:
            passages: str or list of str. The passages.
            question: str or None. The question; None to ask one about the answer. Default: None.
            answer: str or None. The answer; None to answer the question. Default: None.
            answer_start: int or None. Offset of the answer in the first passage; None for its first
                occurrence. Default: None.
            style: str or None. The answer style; None for the first one. Default: None.
            **options: Fields of `options_class`.

        Returns:
            The names of the model's `ATTENTION`. A model that reads one passage at a time has those
            of the first passage with the answer.

        Raises:
            ValueError: If the model has no attention to show, as an extractive reader.

        Example:

        >>> import tfmrc
        >>> from tfmrc import models, preprocessing, text
        >>> preprocessor = preprocessing.SANPreprocessor(text.Vocabulary(["owl"]))
        >>> model = models.SAN(vocabulary_size=5, word_dim=8, units=4)
        >>> predictor = tfmrc.Predictor(model, preprocessor)
        >>> found = predictor.attention(question="Who flew?", passages="An owl flew.")
        >>> found["question_attention"].rows, found["question_attention"].weights.shape
        (['An', 'owl', 'flew', '.'], (4, 3))
        """
        if not self.model.ATTENTION:
            raise ValueError(
                f"{type(self.model).__name__} has no attention to show: its words interact in the "
                "layers of a pretrained encoder, whose heads say little about an answer."
            )
        texts = tuple(stream_of_passages(passages))
        if question is None:
            about: Any = {"answer": answer, "answer_start": answer_start}
            question = self.ask(passage=texts[0], **about, **options).text
        if answer is None:
            answer = self.answer(question=question, passages=texts, style=style, **options).text
        start = -1 if answer_start is None else answer_start
        spans = (Span(0, start, start + len(answer)),) if answer and start >= 0 else ()
        style = style or self.preprocessor.styles[0]
        return attention_of(self, Example("", question, texts, {style: (answer,)}, spans=spans))

    def predict(
        self,
        examples: Iterable[Any],
        *,
        task: str | Task | None = None,
        batch_size: int = 32,
        **options: Any,
    ) -> Iterator[R]:
        """Predicts many examples in batches, in their order.

        Args:
            examples: iterable. `tfmrc.data.Example` or objects with the same attributes (see
                `tfmrc.predictors.Query.of`), or dicts of the keywords of `answer` or `ask`, read
                lazily.
            task: str, `Task` or None. A task or its name; None for the first of `tasks`.
                Default: None.
            batch_size: int. Examples per batch. Default: 32.
            **options: Fields of `options_class`.

        Returns:
            An iterator with one result per example.

        Raises:
            ValueError: If the task is unknown, or a dict names a style that is not the task's.
            TypeError: If an option is unknown.
        """
        selected = self.task(task)
        self.options(**options)
        queries = (Query.of(example, selected) for example in iter(examples))

        def results() -> Iterator[R]:
            for batch in batches_of(queries, batch_size):
                yield from self.predict_batch(batch, selected, options)

        return results()

    def run(
        self, signature: str, inputs: Mapping[str, Sequence[Any]], **options: Any
    ) -> dict[str, Any]:
        """Returns the arrays that the exported signature returns for the same strings.

        Args:
            signature: str. Its name, such as `"serving_default"`.
            inputs: dict. For each input the values, one per example.
            **options: Fields of `options_class`.

        Raises:
            ValueError: If an input is unknown or missing, or the graph refuses a value.
        """
        check_process(self._process)
        function = self.signature(signature, **options)
        inputs = self.complete(inputs)
        specs = function.input_signature
        check_names(f"The signature {signature!r}", inputs, [spec.name for spec in specs])
        most = getattr(self.preprocessor, "num_passages", None)
        tensors = tensors_of(inputs, specs, most)
        is_empty = bool(tensors) and tensors[0].shape[0] == 0
        if is_empty:  # layers do not agree on zero rows outside a graph
            tensors = one_row(specs, self.complete(self.warmup_request() or {}))
        try:
            outputs = function(*tensors)
        except tf.errors.InvalidArgumentError as error:
            raise ValueError(status_message(error)) from error
        end = 0 if is_empty else None
        return {name: value.numpy()[:end] for name, value in outputs.items()}

    def signature(self, name: str = "serving_default", **options: Any) -> Any:
        """Returns the `tf.function` of a signature; it is built once per combination of options."""
        check_backend()
        chosen = self.options(**options)
        trained = getattr(self.model, "trained_outputs", None)  # a `fit` may have changed them
        # The graphs have no LoRA.
        key = chosen, trained, len(self.model.weights), self.calibration, self.network
        if key not in self._signatures:
            if self._signatures and trained not in {earlier[1] for earlier in self._signatures}:
                self._warn_of_untrained()
            self._signatures[key] = self.with_confidence(self.build_signatures(chosen), chosen)
        return self._signatures[key][name]

    def with_confidence(self, signatures: Mapping[str, Any], options: Any) -> dict[str, Any]:
        """Returns signatures whose answers have calibrated probabilities and `is_confident`.

        Args:
            signatures: dict. The result of `build_signatures` or `export_signatures`.
            options: An instance of `options_class`.
        """
        least = getattr(options, "min_probability", None)
        return calibrations.with_confidence(signatures, self.calibration, least)

    def calibrate(
        self, examples: Iterable[Any], *, precision: float | None = 0.9, **options: Any
    ) -> CalibrationReport:
        """Fits `calibration`: the probability of an answer becomes that of being right.

        A span is right if it matches a reference exactly after SQuAD's normalization, a written
        answer if its ROUGE-L is at least 0.5. Without a right answer in the passages, every answer
        is wrong.

        Args:
            examples: iterable. `tfmrc.data.Example` records with answers, or marked unanswerable,
                that the model was not trained on.
            precision: float or None. Share of right answers among the confident ones, from which
                the threshold follows; None for no threshold. Default: 0.9.
            **options: Fields of `options_class` and `batch_size`, as of later calls.

        Returns:
            The report, by two-fold cross-fitting: each half is measured with the other half's map.

        Raises:
            ValueError: If there are too few answers, all are right or all are wrong, or `precision`
                is not a share.
        """
        return calibrations.calibrate(self, examples, precision, **options)

    def measure_calibration(self, examples: Iterable[Any], **options: Any) -> CalibrationReport:
        """Measures `calibration` on examples that it was not fitted on.

        Args:
            examples: iterable. `tfmrc.data.Example` records with answers, or marked unanswerable.
            **options: Fields of `options_class` and `batch_size`.

        Raises:
            ValueError: If the predictor is not calibrated.
        """
        return calibrations.measure(self, examples, **options)

    def options(self, **options: Any) -> Any:
        """Returns options as an instance of `options_class`; `default_options` complete them.

        Raises:
            TypeError: If an option is unknown; the message lists them.
            ValueError: If a value is not possible.
        """
        known = ", ".join(parameters_of(self.options_class))
        where = f"{type(self).__name__} has the options {known}; it"
        check_arguments(self.options_class, options, where)
        return self.options_class(**{**self.default_options, **options})

    def task(self, task: str | Task | None = None) -> Task:
        """Returns one of the predictor's tasks by its name, or the first one.

        Raises:
            ValueError: If the predictor has no such task.
        """
        tasks = self.tasks
        if task is None and tasks:
            return tasks[0]
        for known in tasks:
            if task in (known, known.name):
                return known
        raise ValueError(
            f"This predictor has the tasks {', '.join(known.name for known in tasks) or 'none'}. "
            f"Received: task={getattr(task, 'name', task)!r}"
        )

    def _task_for(self, target: str, style: str | None) -> Task:
        tasks = [task for task in self.tasks if task.target == target]
        if not tasks:
            verb = {"answer": "answer questions", "question": "ask questions"}[target]
            raise ValueError(
                f"{type(self).__name__} does not {verb}; it has the tasks "
                f"{', '.join(task.name for task in self.tasks)}."
            )
        for task in tasks:
            if style in (None, task.style):
                return task
        styles = ", ".join(str(task.style) for task in tasks)
        raise ValueError(f"`style` must be one of {styles}. Received: style={style!r}")

    def _single(self, query: Query, task: Task, options: Mapping[str, Any]) -> R:
        return next(iter(self.predict_batch([query], task, options)))

    def check_agreement(self) -> None:
        """Raises an error if a part lacks what the predictor calls, or their sizes differ.

        Raises:
            TypeError: If model or preprocessor lack members of their protocols.
            ValueError: If the sizes of model and preprocessor differ.
        """
        name = type(self).__name__
        check_members(self.model, self.model_protocol, name)
        check_members(self.preprocessor, self.preprocessor_protocol, name)
        config = self.model.get_config()
        sizes = self.preprocessor.model_kwargs()
        if getattr(self.model, "num_word_features", 0):
            sizes = {"num_word_features": 0} | sizes  # a preprocessor without them gives no size
        for name, expected in sizes.items():
            size = config.get(name, getattr(self.model, name, None))
            if name == "generation_vocabulary_size":  # at most the vocabulary
                size = getattr(self.model, "num_generable", size)
            if size is not None and size != expected:
                raise ValueError(
                    f"Model and preprocessor were built with different {name}: build the model "
                    "with the sizes of `preprocessor.model_kwargs()`. "
                    f"Received: model={size!r}, preprocessor={expected!r}"
                )

    def get_config(self) -> dict[str, Any]:
        """Returns further plain constructor arguments, which are saved and loaded."""
        return {}

    def save(self, folder: str | PathLike[str], metrics: Mapping[str, Any] | None = None) -> Path:
        """Saves weights, configuration, vocabulary, tool versions and metrics to a folder.

        The folder is written under a temporary name, with a digest of every file, and then renamed.

        Args:
            folder: str or path. The folder; an existing saved predictor is replaced.
            metrics: dict or None. JSON value; None for `self.metrics`. Default: None.

        Returns:
            The folder.

        Raises:
            FileExistsError: If there is a file, a link, or a folder that holds something else.
            ValueError: If a class is not registered (`keras.saving.register_keras_serializable`).
        """
        return save_parts(folder, self, self.metrics if metrics is None else metrics)

    @classmethod
    def load(cls, folder: str | PathLike[str], *, verify: bool = True) -> Self:
        """Loads a saved predictor. Runs no code from the folder.

        `Predictor.load` loads any predictor; a subclass loads its own kind.

        Args:
            folder: str or path. A folder that `save` wrote.
            verify: bool. Whether every file is compared with its digest first. Default: True.

        Raises:
            FileNotFoundError: If the folder is not a saved predictor.
            ValueError: If it is damaged, newer than this tfmrc, of a class that is not registered,
                or another kind of predictor.
            RuntimeError: In a process that was forked after a predictor was made or loaded.
        """
        this_process()  # an error before anything is computed
        parts = load_parts(folder, Predictor, verify=verify)
        if not issubclass(parts.predictor_class, cls):
            raise ValueError(
                f"{folder} holds a {parts.predictor_class.__name__}; `Predictor.load` loads any "
                f"predictor. Received: {cls.__name__}.load({str(folder)!r})"
            )
        predictor: Self = parts.predictor_class(parts.model, parts.preprocessor, **parts.arguments)
        predictor.metrics, predictor.default_options = parts.metrics, parts.default_options
        if parts.calibration is not None:
            predictor.calibration = calibrations.Calibration.from_json(parts.calibration)
        return predictor

    def export(
        self,
        path: str | PathLike[str],
        *,
        overwrite: bool = False,
        metrics: Mapping[str, Any] | None = None,
        openvino: bool = False,
        int8: Iterable[Any] | None = None,
        **options: Any,
    ) -> Path:
        """Writes a SavedModel that takes plain strings; see `tfmrc.storage.export_saved_model`.

        Args:
            path: str or path. `<folder>/<name>/<version>`; the version is a number.
            overwrite: bool. Whether a version that exists is replaced. Default: False.
            metrics: dict or None. Measured results for the model card; None for `self.metrics`.
                Default: None.
            openvino: bool. Whether OpenVINO's file of a reader's network is written as well, with
                which `tfmrc.load` and `tfmrc serve` then compute the export. Default: False.
            int8: iterable or None. Questions as of `predict`, from whose texts the ranges of the
                file's int8 numbers are taken (300 are enough); None for float32. Default: None.
            **options: Fields of `options_class`; they are fixed in the export.

        Returns:
            The version's folder.

        Raises:
            ValueError: If the path does not end in a number, the graph calls Python, or OpenVINO
                does not compute the model.
            ImportError: If OpenVINO, or for int8 NNCF, is not installed.
            FileExistsError: If the version exists and `overwrite` is False, or it is not an export.
        """
        check_backend()
        chosen, more = self.options(**options), None
        if openvino:
            engine.check_runtime("openvino", self.model)
            queries = None
            if int8 is not None:
                engine.python_of_nncf()  # an error before anything is computed
                queries = [Query.of(each, self.task()) for each in int8]
            reader: Any = self
            more = partial(engine.write_parts, reader, chosen, queries)
        return export_saved_model(
            self,
            path,
            chosen,
            write_more=more,
            metrics=self.metrics if metrics is None else metrics,
            overwrite=overwrite,
        )
