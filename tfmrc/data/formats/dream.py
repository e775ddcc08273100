"""DREAM: dialogues and questions, with the correct choice as a free-form answer."""

from collections.abc import Iterator
from os import PathLike
from typing import Any

from tfmrc.data.example import Example
from tfmrc.data.formats.fields import RecordLocation, short
from tfmrc.data.formats.json_stream import json_items
from tfmrc.data.formats.registry import register_format
from tfmrc.data.stream import Account, ExampleStream, OnError, open_binary
from tfmrc.data.transforms.windows import covered, windows


@register_format("dream")
def read_dream(
    path: str | PathLike,
    *,
    style: str = "dream",
    num_passages: int = 10,
    passage_words: int = 130,
    on_error: OnError = "raise",
) -> ExampleStream:
    """Reads a DREAM file: dialogues as passages, the correct choice as the only answer.

    A dialogue is one passage with one turn per line. A dialogue of more than ``passage_words``
    words is divided into passages of whole turns that overlap by about half. The account notes
    dialogues whose end does not fit into ``num_passages`` passages. Wrong choices are discarded.

    Args:
        path: str or path. The file, which may be gzipped.
        style: str. Answer style. Default: ``"dream"``.
        num_passages: int. Largest number of passages. Default: 10.
        passage_words: int. Largest number of words and punctuation marks per passage.
            Default: 130.
        on_error: str. ``"raise"`` raises a ``RecordError`` at a broken record; ``"skip"`` counts
            the record and continues. Default: ``"raise"``.

    Returns:
        A stream of examples; ``group`` is the dialogue's id.

    Raises:
        RecordError: While reading: a field is missing or has a wrong type, a text is blank, the
            answer is not one of the choices, the file is truncated or not JSON.

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

    def read(account: Account) -> Iterator[Example]:
        with open_binary(path) as file:
            for number, record in json_items(file, path, None, "dialogue"):
                location = RecordLocation(path, f"dialogue {number}")
                with account.checked():
                    turns, questions, name = _parts(record, location)
                    passages = _passages(turns, passage_words, num_passages, account)
                    for count, question in enumerate(questions, 1):
                        key, place = f"{name}-{count}", f"dialogue {number}, question {count}"
                        where = RecordLocation(path, f"dialogue {name!r}, question {count}")
                        with account.checked():
                            example = _example(key, name, question, passages, style, where)
                            account.location = RecordLocation(path, place)
                            yield example

    return ExampleStream(read, on_error)


def _parts(record: Any, location: RecordLocation) -> tuple[list[str], list[Any], str]:
    match record:
        case [[*turns], [*questions], str(name)] if all(isinstance(t, str) for t in turns):
            if any(turn.strip() for turn in turns):
                return turns, questions, name
    raise location.error(
        f"must be [turns, questions, id], and each turn must have a text. Received: {short(record)}"
    )


def _passages(turns: list[str], size: int, most: int, account: Account) -> tuple[str, ...]:
    text, units = "", []
    for turn in turns:
        units.append((len(text), len(text) + len(turn)))
        text += turn + "\n"
    result = windows(text, size, most, overlap=True, units=units)
    if len(result) == most and covered(text, result) < 1:
        account.notes[f"dialogues too long for {most} passages of {size} words"] += 1
    return tuple(text[start:end].strip() for start, end in result)


def _example(
    name: str,
    group: str,
    question: object,
    passages: tuple[str, ...],
    style: str,
    location: RecordLocation,
) -> Example:
    text = location.text(question, "question")
    answer = location.text(question, "answer")
    return location.example(
        id=name,
        question=text,
        passages=passages,
        answers={style: (answer,)},
        answerable=True,
        group=group,
    )
