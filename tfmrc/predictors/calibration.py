"""Calibration of a predictor: the map of its probabilities, and the threshold of an answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import tensorflow as tf

from tfmrc.evaluation import CalibrationReport, precision_recall_curve
from tfmrc.evaluation.metrics.calibration import right_answers
from tfmrc.predictors.spans.span_answer import SpanAnswer

if TYPE_CHECKING:
    from tfmrc.predictors.base import Predictor

LEAST = 20  # answers that a calibration is fitted on
SMALLEST, LARGEST = 1e-37, 1 - 2.0**-24  # probabilities between 0 and 1 in float32


@dataclass(frozen=True)
class Calibration:
    """Maps the probability of an answer to the probability that it is right.

    The map is Platt's: `sigmoid(slope * log(p / (1 - p)) + intercept)`, where p is the probability
    of a span. Of a written answer it is the geometric mean of its words' probabilities, times that
    of the passages answering at all: the product of many words tells right answers from wrong ones
    less well. `predictor.calibrate` fits the map; `predictor.calibration` holds it.

    Attributes:
        slope: float. Factor of the log-odds.
        intercept: float. Log-odds at a probability of one half.
        threshold: float or None. Smallest calibrated probability of a confident answer; None for
            none. Default: None.
        precision: float or None. Share of right answers among the confident ones of the data that
            the threshold was chosen on. Default: None.
        right: str. What counts as right: `"exact_match"` (after SQuAD's normalization) or
            `"rouge_l"` (at least 0.5). Default: "exact_match".
        styles: dict. The `Calibration` of each style of a model that answers in several. A style
            that is not in it takes the other attributes. Default: none.

    Example:

    >>> from tfmrc.predictors import Calibration
    >>> Calibration(slope=2.0, intercept=0.0).apply([0.0, 0.25, 0.5]).numpy().round(3).tolist()
    [0.0, 0.10000000149011612, 0.5]
    """

    slope: float
    intercept: float
    threshold: float | None = None
    precision: float | None = None
    right: str = "exact_match"
    styles: Mapping[str, "Calibration"] = field(default_factory=dict, hash=False)

    def of(self, style: str | None) -> "Calibration":
        """Returns the calibration of a style."""
        return self.styles.get(style or "", self)

    def apply(self, probability: Any) -> tf.Tensor:
        """Returns calibrated probabilities, of the same shape; 0 (no answer) stays 0."""
        probability = tf.convert_to_tensor(probability)
        chance = tf.sigmoid(self.slope * _log_odds(probability) + self.intercept)
        return tf.where(probability > 0, chance, tf.zeros_like(chance))

    def apply_to_all(self, probabilities: Any, best: Any = None) -> tf.Tensor:
        """Returns calibrated probabilities of the answers to a question, which add up to at most 1.

        The first one is mapped. The others share what it leaves, in proportion to their own
        probabilities, and none has more than its mapped probability, or than the best.

        Args:
            probabilities: float32 `[.., K]`. Those of the model, the best answer's first, which add
                up to at most 1.
            best: float32 `[..]` or None. What is mapped of the best answer; None for its
                probability. Default: None.

        Example:

        >>> from tfmrc.predictors import Calibration
        >>> calibration = Calibration(slope=1.0, intercept=1.0)
        >>> [round(float(p), 3) for p in calibration.apply_to_all([0.5, 0.375, 0.0625])]
        [0.731, 0.202, 0.034]
        """
        probabilities = tf.convert_to_tensor(probabilities)
        if best is None:
            chance = self.apply(probabilities)  # [.., K]
        else:
            chance = self.apply(best)[..., None] * tf.ones_like(probabilities)
        left = tf.math.divide_no_nan(1.0 - chance, 1.0 - probabilities)[..., :1]  # [.., 1]
        others = tf.minimum(chance, probabilities * left)[..., 1:]  # [.., K - 1]
        return tf.concat([chance[..., :1], others], axis=-1)

    def to_json(self) -> dict[str, Any]:
        """Returns the fields as a JSON-serialisable dict."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Returns the calibration of a dict; other keys are ignored."""
        known = {f.name: value[f.name] for f in fields(cls) if f.name in value}
        styles = known.get("styles", {})
        return cls(**known | {"styles": {name: cls.from_json(styles[name]) for name in styles}})

    @classmethod
    def fit(
        cls,
        probability: np.ndarray,
        is_right: np.ndarray,
        style: np.ndarray,
        precision: float | None,
        right: str,
    ) -> Self:
        """Fits map and threshold, to all answers and to those of each style.

        Args:
            probability: float64 `[N]`. The model's own probabilities; 0 where it found nothing.
            is_right: bool `[N]`. Whether each answer is right.
            style: object `[N]`. The style of each answer, None for the model's only one.
            precision: float or None. Least share of right answers among the confident ones: the
                lowest threshold that reaches it, or 1. None for no threshold.
            right: str. What counts as right.

        Reference: Platt 1999, "Probabilistic outputs for support vector machines".
        """
        found = probability > 0
        slope, intercept = _platt(_log_odds(probability[found]).numpy(), is_right[found])
        fitted = cls(slope, intercept, precision=precision, right=right)
        if precision is not None:
            chance = fitted.apply(probability).numpy()
            fitted = replace(fitted, threshold=_threshold(chance, is_right, precision))
        styles = {}
        for name in sorted({*style} - {None}):
            rows = style == name
            if (rows & found).sum() >= LEAST and 0 < is_right[rows & found].mean() < 1:
                none = np.full(rows.sum(), None)
                styles[name] = cls.fit(probability[rows], is_right[rows], none, precision, right)
        return replace(fitted, styles=styles)


def with_confidence(
    signatures: Mapping[str, Any],
    calibration: Calibration | None,
    least: float | None,
    are_shares: bool = True,
) -> dict[str, Any]:
    """Returns signatures of answers with calibrated probabilities and `is_confident` bool `[B]`.

    An answer is confident if its probability reaches the threshold; without one, if the signature's
    own output `is_confident` says so, and otherwise always. Signatures without the output
    `probability`, such as those that ask, return what they did.

    Args:
        signatures: dict. `tf.function` objects with an `input_signature`.
        calibration: `Calibration` or None. Maps `probability` and `probabilities`.
        least: float or None. Smallest probability of a confident answer; None for the threshold of
            the calibration.
        are_shares: bool. Whether `probabilities` add up to at most 1. Default: True.
    """

    def confident(signature: Any) -> Any:
        def compute(*inputs: tf.Tensor) -> dict[str, tf.Tensor]:
            outputs = dict(signature(*inputs))
            certainties = outputs.pop("certainties", None)  # [B, N]
            if "probability" not in outputs:
                return outputs
            if calibration is not None:
                given = zip(signature.input_signature, inputs, strict=True)
                style = next((tensor for spec, tensor in given if spec.name == "style"), None)
                outputs |= _calibrated(outputs, certainties, calibration, style, are_shares)
            if least is not None or "is_confident" not in outputs:
                outputs["is_confident"] = outputs["probability"] >= (least or 0.0)
            return outputs

        return tf.function(compute, input_signature=signature.input_signature, autograph=False)

    made = {each: confident(each) for each in signatures.values()}  # two names may share one
    return {name: made[each] for name, each in signatures.items()}


def _calibrated(
    outputs: Mapping[str, tf.Tensor],
    certainties: tf.Tensor | None,
    calibration: Calibration,
    style: tf.Tensor | None,
    are_shares: bool,
) -> dict[str, tf.Tensor]:
    """Returns calibrated `probability` `[B]`, `probabilities` `[B, N]`, if any, `is_confident`."""

    def by(one: Calibration) -> dict[str, tf.Tensor]:
        best = None if certainties is None else certainties[:, 0]  # [B]
        chance = one.apply(outputs["probability"] if best is None else best)
        result = {"probability": chance, "is_confident": chance >= (one.threshold or 0.0)}
        if (every := outputs.get("probabilities")) is not None:  # [B, N]
            mapped = one.apply_to_all(every, best) if are_shares else one.apply(every)
            result["probabilities"] = mapped
        return result

    result = by(calibration)
    for name in calibration.styles if style is not None else ():
        for key, value in by(calibration.of(name)).items():
            is_style = tf.reshape(style == name, [-1] + [1] * (value.shape.rank - 1))
            result[key] = tf.where(is_style, value, result[key])
    return result


def calibrate(
    predictor: "Predictor[Any]", examples: Iterable[Any], precision: float | None, **options: Any
) -> CalibrationReport:
    """Fits and sets `predictor.calibration`; see `Predictor.calibrate`."""
    if precision is not None and not 0 < precision <= 1:
        raise ValueError(
            f"`precision` is a share, above 0 and at most 1. Received: precision={precision!r}"
        )
    number, style, raw, is_right, right = _answers(predictor, examples, options)
    if (raw > 0).sum() < LEAST:
        raise ValueError(
            f"A calibration needs at least {LEAST} answers to questions whose right answers are "
            f"known. Received: {(raw > 0).sum()}"
        )
    calibrated, is_confident = np.zeros_like(raw), np.zeros_like(is_right)
    for half in (number % 2 == 0, number % 2 == 1):  # measured on answers that it has not seen
        _check_both(raw[half], is_right[half])
        fitted = Calibration.fit(raw[~half], is_right[~half], style[~half], precision, right)
        calibrated[half], is_confident[half] = _applied(fitted, raw[half], style[half])
    fitted = predictor.calibration = Calibration.fit(raw, is_right, style, precision, right)
    facts = fitted.to_json() | {"measured on": "two halves, each with the map of the other"}
    return CalibrationReport(raw, calibrated, is_right, is_confident, facts)


def _check_both(raw: np.ndarray, is_right: np.ndarray) -> None:
    """Raises a ValueError unless some answers of a half are right and some are wrong."""
    found = is_right[raw > 0]
    if found.all() or not found.any():
        raise ValueError(
            "A calibration needs right and wrong answers in each half of the questions: add "
            f"questions. Received: {len(found)} answers in a half, {found.sum()} of them right"
        )


def measure(
    predictor: "Predictor[Any]", examples: Iterable[Any], **options: Any
) -> CalibrationReport:
    """Measures `predictor.calibration`; see `Predictor.measure_calibration`."""
    calibration = predictor.calibration
    if calibration is None:
        raise ValueError("The predictor is not calibrated. Received: calibration=None")
    _, style, raw, is_right, _ = _answers(predictor, examples, options)
    calibrated, is_confident = _applied(calibration, raw, style)
    return CalibrationReport(raw, calibrated, is_right, is_confident, calibration.to_json())


def _applied(
    calibration: Calibration, raw: np.ndarray, style: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the calibrated probabilities of answers in their styles, and which are confident."""
    result, least = np.zeros_like(raw), np.zeros_like(raw)
    for name in {*style}:
        one = calibration.of(name)
        result[style == name] = one.apply(raw[style == name]).numpy()
        least[style == name] = one.threshold or 0.0
    return result, result >= least


def _answers(
    predictor: "Predictor[Any]", examples: Iterable[Any], options: dict[str, Any]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, str]:
    """Returns the number of the example, the style, the raw probability and the truth of each
    answer, and what counts as right.

    Every task that answers counts. Questions whose right answers are not known are left out.
    """
    tasks = [task for task in predictor.tasks if task.target == "answer"]
    given, numbers, styles, references = list(examples), [], [], []
    results: list[Any] = []
    kept, predictor.calibration = predictor.calibration, Calibration(slope=1.0, intercept=0.0)
    try:
        for task in tasks:
            texts = [_references(one, task.style, len(tasks) == 1) for one in given]
            known = [number for number, right in enumerate(texts) if right is not None]
            results += predictor.predict([given[n] for n in known], task=task, **options)
            numbers += known
            styles += [task.style if len(tasks) > 1 else None] * len(known)
            references += [texts[number] or () for number in known]
    finally:
        predictor.calibration = kept
    is_span = all(isinstance(result, SpanAnswer) for result in results)
    right = "exact_match" if is_span else "rouge_l"
    raw = np.array([result.probability or 0.0 for result in results])
    is_right = right_answers([result.text for result in results], references, right)
    return np.array(numbers), np.array(styles, object), raw, is_right, right


def _references(example: Any, style: str | None, is_only: bool) -> Sequence[str] | None:
    """Returns the right answers: () if the question has none, None if they are unknown."""
    others = example.answers.values() if is_only else ()
    texts: Sequence[str] = example.answers.get(style) or next(iter(others), ())
    return texts if texts or example.answerable is False else None


def _log_odds(probability: Any) -> tf.Tensor:
    chance = tf.clip_by_value(probability, SMALLEST, LARGEST)
    return tf.math.log(chance) - tf.math.log1p(-chance)


def _platt(log_odds: np.ndarray, is_right: np.ndarray) -> tuple[float, float]:
    """Returns slope and intercept by Newton's method, on Platt's smoothed targets."""
    right = is_right.sum()
    wrong = len(is_right) - right
    target = np.where(is_right, (right + 1) / (right + 2), 1 / (wrong + 2))
    inputs = np.stack([log_odds, np.ones_like(log_odds)], axis=1)

    def loss(weights: np.ndarray) -> float:
        scores = inputs @ weights
        return float(np.sum(np.logaddexp(0, scores) - target * scores))

    weights = np.zeros(2)
    for _ in range(100):
        chance = 0.5 + 0.5 * np.tanh(inputs @ weights / 2)
        curvature = inputs.T @ (inputs * (chance * (1 - chance))[:, None]) + 1e-9 * np.eye(2)
        step = np.linalg.solve(curvature, inputs.T @ (chance - target))
        while loss(weights - step) > loss(weights):
            step /= 2
        weights = weights - step
        if np.abs(step).max() < 1e-10:
            break
    return float(weights[0]), float(weights[1])


def _threshold(chance: np.ndarray, is_right: np.ndarray, precision: float) -> float:
    """Returns the middle between the last accepted and the first refused probability."""
    if not is_right.any():
        return 1.0
    curve = precision_recall_curve(dict(enumerate(chance)), dict(enumerate(is_right)))
    reached = np.flatnonzero(curve.precision >= precision)
    if not reached.size:
        return 1.0
    return float(np.mean([*curve.thresholds, 0.0][reached[-1] : reached[-1] + 2]))
