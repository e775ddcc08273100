"""The question-answering pipeline: the calls and results that transformers had until 5.2."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import tensorflow as tf

from tfmrc.predictors.base import Predictor
from tfmrc.predictors.exported.inputs import status_message, strings
from tfmrc.predictors.extractive_reader import ExtractiveReaderPredictor, find_answers
from tfmrc.predictors.hugging_face.legacy_answers import answer_of, legacy_answers, windows_of
from tfmrc.predictors.load import load
from tfmrc.predictors.openvino import Runtime
from tfmrc.predictors.process import check_backend, check_process
from tfmrc.predictors.protocols import PredictorLike
from tfmrc.predictors.spans.reader_windows import window_scores
from tfmrc.predictors.spans.window_predictor import read_windows
from tfmrc.predictors.task import Query
from tfmrc.utils.arguments import check_whole_numbers
from tfmrc.utils.batches import batches_of

Answer = dict[str, Any]
Pair = tuple[str, str]
BLANK = ("Zs", "Zl", "Zp", "Cc", "Cf")  # categories of characters that show nothing
WHOLE_NUMBERS = ("top_k", "max_answer_len", "max_seq_len", "max_question_len", "batch_size")
IGNORED = ("padding", "num_workers")  # of the removed pipeline, without effect on results


@dataclass(frozen=True)
class PipelineOptions:
    """Options of `QuestionAnsweringPipeline`, with the names of the removed pipeline.

    Attributes:
        top_k: int. Number of answers. Default: 1.
        doc_stride: int or None. Number of subwords that two windows share; None for half of
            `max_seq_len`, at most 128. Default: None.
        max_answer_len: int. Greatest number of subwords of an answer. Default: 15.
        max_seq_len: int or None. Number of subwords of a window, with the question; None for 384 or
            the model's number, if it is smaller. Default: None.
        max_question_len: int. Greatest number of subwords of a question; fewer if a window has no
            room for as many, unless `doc_stride` is given. Default: 64.
        handle_impossible_answer: bool. Whether "no answer" is an answer: `""`. Default: False.
        align_to_words: bool. Whether answers are whole words. Default: True.
        batch_size: int. Number of questions that are read at once. Default: 16.
        legacy: bool. Whether results are those of transformers 5.2. Default: False.

    Raises:
        ValueError: If a number is not a positive int; `doc_stride` may be 0.
    """

    top_k: int = 1
    doc_stride: int | None = None
    max_answer_len: int = 15
    max_seq_len: int | None = None
    max_question_len: int = 64
    handle_impossible_answer: bool = False
    align_to_words: bool = True
    batch_size: int = 16
    legacy: bool = False

    def __post_init__(self) -> None:
        numbers = {name: getattr(self, name) for name in (*WHOLE_NUMBERS, "doc_stride")}
        given = {name: value for name, value in numbers.items() if value is not None}
        check_whole_numbers(0, doc_stride=given.pop("doc_stride", 0))
        check_whole_numbers(1, **given)


class QuestionAnsweringPipeline:
    """Answers questions as `transformers.pipeline("question-answering")` did until 5.2.

    A result is a dict: `score` (the probability, calibrated unless `legacy`), `start` and `end`
    (characters of the context) and `answer`. The calls are those of the removed pipeline: keywords
    `question` and `context` with strings or lists, one dict, a list of dicts, or a generator of
    dicts, which is read lazily.

    By default some bugs of the removed pipeline are fixed (docs/how-to/transformers.md): a score is
    a probability under one distribution over all windows, answers are whole words also at the edge
    of a window, long questions are cut to `max_question_len`, and the type of a result depends only
    on the call: a list for a list of questions and for `top_k` above 1.

    Args:
        predictor: `ExtractiveReaderPredictor`; or any predictor or export that answers questions,
            which has the option `batch_size` only (an export answers one question at a time).
        **options: Fields of `PipelineOptions`, defaults of all calls.

    Raises:
        TypeError: If an option is unknown.
        ValueError: If a value is impossible, or `legacy` is given for another predictor than an
            extractive reader.

    Example:
        >>> import tfmrc
        >>> from tfmrc import encoders, models, preprocessing
        >>> encoder = encoders.from_vocabulary("who flew an owl ? .".split())
        >>> predictor = tfmrc.Predictor(
        ...     models.ExtractiveReader(encoder=encoder),
        ...     preprocessing.ExtractiveReaderPreprocessor(encoder=encoder))
        >>> answerer = tfmrc.pipeline("question-answering", predictor)
        >>> context = "An owl flew."
        >>> result = answerer(question="Who flew?", context=context)
        >>> sorted(result), result["answer"] == context[result["start"] : result["end"]]
        (['answer', 'end', 'score', 'start'], True)
    """

    def __init__(self, predictor: PredictorLike, **options: Any):
        self.predictor: Any = predictor
        self.is_reader = isinstance(predictor, ExtractiveReaderPredictor)
        self.options = self._options(PipelineOptions(), options)
        self._functions: dict[Any, Any] = {}  # graphs, by their form and network

    def __repr__(self) -> str:
        return f"<QuestionAnsweringPipeline of {self.predictor!r}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Answers questions.

        Args:
            *args: A dict with `question` and `context`, a list or a generator of such dicts, a
                pandas data frame with these columns, or two strings.
            question: str or list of str. The questions.
            context: str or list of str. One context for all questions, or one for each.
            **options: Fields of `PipelineOptions` for this call.

        Returns:
            A dict; a list of dicts with `top_k` above 1. For a list of questions a list of these,
            for a generator an iterator of these.

        Raises:
            ValueError: If a question or a context is missing, blank or None, or their numbers
                differ; with a generator, after the answers to the questions before it.
            TypeError: If an option is unknown.
            RuntimeError: If the process was forked after the model was loaded.
        """
        names = [name for name in ("question", "context") if name in kwargs]
        given: dict[str, Any] = {name: kwargs.pop(name) for name in names}
        options = self._options(self.options, kwargs)
        examples, is_single = _examples(args, given)
        if isinstance(examples, Iterator):
            return self._answered(map(_pair, examples), options)
        answers = list(self._answered([_pair(example) for example in examples], options))
        if is_single or (options.legacy and len(answers) == 1):
            return answers[0]
        return answers

    def _options(self, options: PipelineOptions, changes: Mapping[str, Any]) -> PipelineOptions:
        # None means the default, as in the removed pipeline.
        given = {n: v for n, v in changes.items() if v is not None and n not in IGNORED}
        if not self.is_reader:
            for name, value in given.items():
                if name != "batch_size" and value is not False:
                    raise TypeError(
                        f"`{name}` is an option of extractive readers. "
                        f"Received: {name}={value!r:.80} for {self.predictor!r}"
                    )
        return replace(options, **given)

    def _answered(self, pairs: Iterable[Pair], options: PipelineOptions) -> Iterator[Any]:
        for batch in batches_of(pairs, options.batch_size):
            for answers in self._batch(batch, options):
                is_one = options.top_k == 1 or (options.legacy and len(answers) == 1)
                yield answers[0] if is_one and answers else answers

    def _batch(self, batch: Sequence[Pair], options: PipelineOptions) -> Iterator[list[Answer]]:
        if not self.is_reader:
            for answer in self._answers_of_others(batch):
                start = getattr(answer, "start", -1)
                end = getattr(answer, "end", -1)
                yield [answer_of(answer.probability, max(start, 0), max(end, 0), answer.text)]
            return
        check_backend()
        check_process(self.predictor._process)
        texts = [strings(column) for column in zip(*batch, strict=True)]
        compute = self._legacy if options.legacy else self._default
        try:
            yield from compute(batch, texts, options)
        except tf.errors.InvalidArgumentError as error:
            raise ValueError(status_message(error)) from error

    def _answers_of_others(self, batch: Sequence[Pair]) -> Iterable[Any]:
        """Returns the results of another predictor than a reader; an export answers one by one."""
        predictor = self.predictor
        tasks = predictor.tasks if isinstance(predictor, Predictor) else ()
        task = next((task for task in tasks if task.target == "answer"), None)
        if task is None:
            return (predictor.answer(question=q, passages=[context]) for q, context in batch)
        queries = (Query(question, (context,)) for question, context in batch)
        return predictor.predict(queries, task=task, batch_size=len(batch))

    def _windows(self, options: PipelineOptions) -> dict[str, Any]:
        """Returns the sizes of windows as tensors, so that one graph is enough for all."""
        subwords = self.predictor.preprocessor.subwords
        length = options.max_seq_len or min(subwords.length, 384)
        if length > subwords.length:
            raise ValueError(
                f"The model reads {subwords.length} subwords at once. "
                f"Received: max_seq_len={length}"
            )
        overlap = min(length // 2, 128) if options.doc_stride is None else options.doc_stride
        most = length if options.legacy else min(options.max_question_len, length)
        if options.doc_stride is None and not options.legacy:  # there is room for any question
            room = length - overlap - self.predictor.preprocessor.num_special - 1
            most = min(most, max(room, 1))
        sizes = {"window_length": length, "overlap": overlap, "question_length": most}
        return {name: tf.constant(size) for name, size in sizes.items()}

    def _default(
        self, batch: Sequence[Pair], texts: list[tf.Tensor], options: PipelineOptions
    ) -> Iterator[list[Answer]]:
        model, preprocessor = self.predictor.network, self.predictor.preprocessor
        if ("default", model) not in self._functions:

            def find(question: tf.Tensor, passages: tf.Tensor, sizes: Any, **options: Any) -> Any:
                windows = read_windows(preprocessor, question, passages, **sizes)
                return find_answers(model, windows, **options)

            self._functions["default", model] = tf.function(find, autograph=False)
        outputs = self._functions["default", model](
            texts[0],
            texts[1][:, None],
            count=tf.constant(options.top_k),
            max_length=tf.constant(options.max_answer_len),
            align=tf.constant(options.align_to_words),
            sizes=self._windows(options),
        )
        values = {name: value.numpy() for name, value in outputs.items()}
        for row, (_, context) in enumerate(batch):
            columns = (values[name][row].tolist() for name in ("probabilities", "starts", "ends"))
            answers = [
                answer_of(score, start, end, context[start:end])
                for score, start, end in zip(*columns, strict=True)
                if start >= 0
            ]
            if options.handle_impossible_answer or not answers:
                none = 1.0 - float(values["answerable_probability"][row])
                answers.append(answer_of(none, 0, 0, ""))
            answers.sort(key=lambda answer: answer["score"], reverse=True)
            answers, calibration = answers[: options.top_k], self.predictor.calibration
            if calibration is not None:  # which keeps their order
                scores = calibration.apply_to_all([a["score"] for a in answers]).numpy()
                answers = [{**a, "score": float(s)} for a, s in zip(answers, scores, strict=True)]
            yield answers

    def _legacy(
        self, batch: Sequence[Pair], texts: list[tf.Tensor], options: PipelineOptions
    ) -> Iterator[list[Answer]]:
        model, preprocessor = self.predictor.network, self.predictor.preprocessor
        if ("legacy", model) not in self._functions:

            def read(question: tf.Tensor, passage: tf.Tensor, **sizes: Any) -> Any:
                windows = preprocessor.source(question, passage, **sizes)
                scores = window_scores(model, windows)  # [W, P, 2]
                return {**windows, "begin": scores[..., 0], "end": scores[..., 1]}

            self._functions["legacy", model] = tf.function(read, autograph=False)
        outputs = self._functions["legacy", model](*texts, **self._windows(options))
        values = {name: value.numpy() for name, value in outputs.items()}
        for row, (_, context) in enumerate(batch):
            yield legacy_answers(
                windows_of(values, row, preprocessor.subwords.cls_id),
                context,
                top_k=options.top_k,
                max_answer_len=options.max_answer_len,
                handle_impossible_answer=options.handle_impossible_answer,
                align_to_words=options.align_to_words,
            )


def pipeline(
    task: str,
    model: str | PathLike[str] | PredictorLike = "ready",
    dtype: Any = None,
    runtime: Runtime = "auto",
    **options: Any,
) -> QuestionAnsweringPipeline:
    """Returns a function that answers questions like the removed pipeline of transformers.

    Args:
        task: str. "question-answering".
        model: str, path or predictor. What `tfmrc.load` loads (a folder of Hugging Face,
            `hf://owner/name`, a saved predictor, a run, an export), or its result. Default:
            "ready", the reader of English that comes with tfmrc.
        dtype: Keras dtype or policy of a reader of Hugging Face, such as "bfloat16" (`tfmrc.load`).
            Default: None.
        runtime: str. What computes the model, as of `tfmrc.load`; a predictor has its own.
            Default: "auto".
        **options: The options of `tfmrc.predictors.QuestionAnsweringPipeline`. Arguments of
            transformers with the only possible value have no effect: `tokenizer=model`,
            `device=-1` or `"cpu"`, `framework="tf"`.

    Returns:
        A `tfmrc.predictors.QuestionAnsweringPipeline`.

    Raises:
        TypeError: If an option is unknown, or an argument of transformers has another value.
        ValueError: If the task is unknown, or `dtype` is given for a folder of another model than
            a reader of Hugging Face.
        FileNotFoundError: If the folder does not exist.

    Example:

    >>> import tfmrc
    >>> tfmrc.pipeline("question-answring", "runs/hills")
    Traceback (most recent call last):
    ...
    ValueError: The task must be 'question-answering'. Received: task='question-answring'
    """
    if task != "question-answering":
        raise ValueError(f"The task must be 'question-answering'. Received: task={task!r}")
    # Arguments of transformers.pipeline that would change something if they said anything else.
    usual = {"device": ("-1", "cpu"), "framework": ("tf",), "tokenizer": (str(model),)}
    for name, values in usual.items():
        if str(options.get(name)) in ("None", *values):
            options.pop(name, None)  # any other value is refused below
    predictor: Any = model
    if isinstance(model, str | PathLike):
        predictor = load(model, dtype=dtype, runtime=runtime)
    return QuestionAnsweringPipeline(predictor, **options)


def _examples(args: Sequence[Any], given: Mapping[str, Any]) -> tuple[Any, bool]:
    """Returns the examples of a call, and whether it has a single one."""
    if len(args) == 2:
        given = dict(zip(("question", "context"), args, strict=True))
    elif args:
        (value,) = args
        if isinstance(value, Mapping):
            return [value], True
        if hasattr(value, "iloc"):  # a data frame, whose iterator has the names of columns
            return value.to_dict("records"), False
        return (value if isinstance(value, Iterator) else list(value)), False
    if set(given) != {"question", "context"}:
        raise ValueError(
            "Give `question` and `context`, or a dict with both, or a list or generator of such "
            f"dicts. Received: {len(args)} arguments and {', '.join(given) or 'no keywords'}"
        )
    question, context = given["question"], given["context"]
    if isinstance(question, str) or question is None:
        return [{"question": question, "context": context}], True
    contexts = [context] * len(question) if isinstance(context, str) else list(context)
    pairs = zip(question, contexts, strict=True)
    return [{"question": question, "context": text} for question, text in pairs], False


def _pair(example: Any) -> Pair:
    """Returns question and context of a dict, or of an object of transformers with both."""
    if isinstance(example, Mapping):
        question, context = example.get("question"), example.get("context")
    else:
        question, context = example.question_text, getattr(example, "context_text", None)
    for name, value in (("question", question), ("context", context)):
        if not isinstance(value, str) or _is_blank(value):
            raise ValueError(
                f"`{name}` must be a text with visible characters. Received: {name}={value!r:.80}"
            )
    return str(question), str(context)


def _is_blank(text: str) -> bool:
    """Returns True if a text has only white space, also of no width, and control characters."""
    return all(unicodedata.category(character) in BLANK for character in text)
