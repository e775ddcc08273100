"""DREAM: dialogues, questions about them, and the right choice as free text."""

from collections.abc import Iterator
from os import PathLike
from typing import Any

from tfmrc.data.example import Example
from tfmrc.data.formats.fields import Place, short
from tfmrc.data.formats.json_stream import json_items
from tfmrc.data.stream import ExampleStream, OnError, RecordError, Report, open_binary
from tfmrc.data.transforms.windows import covered, windows


def read_dream(
    path: str | PathLike,
    *,
    style: str = "dream",
    num_passages: int = 10,
    passage_words: int = 130,
    on_error: OnError = "raise",
) -> ExampleStream:
    """Read DREAM's questions: the dialogue as passages, the right choice as the only answer.

    A dialogue is one passage, a turn a line; one of more than ``passage_words`` words is cut into
    passages of whole turns that overlap by about half, and the report notes the few whose end
    does not fit into ``num_passages`` passages. The wrong choices are not kept.

    Args:
        path: the file, ``.gz`` as it is.
        style: name of the answers' style.
        num_passages: the most passages.
        passage_words: the most words of a passage; marks count as words.
        on_error: ``"raise"`` a ``RecordError`` at a broken record, or ``"skip"`` and count it.

    Returns:
        A stream of examples; ``group`` is the dialogue's id.

    Raises:
        RecordError: while reading: a field is missing or has a wrong type, a text is blank, the
            answer is none of the choices, the file is cut short or no JSON.

    Example:

    >>> import json, pathlib, tempfile
    >>> question = {"question": "Who flew?", "choice": ["An owl.", "A cat."], "answer": "An owl."}
    >>> dialogue = [["M: What flew?", "W: An owl flew."], [question], "1-1"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "dream.json")
    ...     _ = path.write_text(json.dumps([dialogue]))
    ...     [example] = read_dream(path)
    >>> example.passages, example.answers
    (('M: What flew?\\nW: An owl flew.',), {'dream': ('An owl.',)})

    Reference: Sun et al. 2019.
    """

    def read(report: Report) -> Iterator[Example]:
        number = 0
        with open_binary(path) as file:
            for number, record in json_items(file, path, None, "dialogue", report):
                place = Place(path, f"dialogue {number}")
                try:
                    turns, questions, name = _parts(record, place)
                except RecordError as error:
                    report.error(error)
                    continue
                passages = _passages(turns, passage_words, num_passages, report)
                for count, question in enumerate(questions, 1):
                    where = Place(path, f"dialogue {name!r}, question {count}")
                    try:
                        example = _example(
                            f"{name}-{count}", name, question, passages, style, where
                        )
                    except RecordError as error:
                        report.error(error)
                        continue
                    report.location = Place(path, f"dialogue {number}, question {count}")
                    yield example
        if not number and not report.skipped:
            raise RecordError("holds no dialogue", path=path, record="file")

    return ExampleStream(read, on_error)


def _parts(record: Any, place: Place) -> tuple[list[str], list[Any], str]:
    if not isinstance(record, list) or len(record) != 3:
        raise place.error(f"must be [turns, questions, id]. Received: {short(record)}")
    turns, questions, name = record
    if not isinstance(name, str) or not name.strip():
        raise place.error(f"must be a string. Received: id={short(name)}", "id")
    place = Place(place.path, f"dialogue {name!r}")
    if not isinstance(turns, list) or not all(isinstance(turn, str) for turn in turns):
        raise place.error(f"must be a list of strings. Received: turns={short(turns)}", "turns")
    if not any(turn.strip() for turn in turns):
        raise place.error("the dialogue is blank", "turns")
    if not isinstance(questions, list):
        raise place.error(f"must be a list. Received: questions={short(questions)}", "questions")
    return turns, questions, name


def _passages(turns: list[str], size: int, most: int, report: Report) -> tuple[str, ...]:
    text, units = "", []
    for turn in turns:
        units.append((len(text), len(text) + len(turn)))
        text += turn + "\n"
    result = windows(text, size, most, overlap=True, units=units)
    if len(result) == most and covered(text, result) < 1:
        report.note(f"dialogues too long for {most} passages of {size} words")
    return tuple(text[start:end].strip() for start, end in result)


def _example(
    name: str, group: str, question: Any, passages: tuple[str, ...], style: str, place: Place
) -> Example:
    text = place.text(question, "question")
    answer = place.text(question, "answer")
    choices = place.list(question, "choice")
    if answer not in choices:
        raise place.error(
            f"is none of the choices. Received: answer={short(answer)}, choice={short(choices)}",
            "answer",
        )
    try:
        return Example(
            id=name,
            question=text,
            passages=passages,
            answers={style: (answer,)},
            answerable=True,
            group=group,
        )
    except ValueError as error:
        raise place.error(str(error)) from error
