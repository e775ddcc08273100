"""Meanings of the inputs and outputs of the signatures, for model cards."""

from collections.abc import Iterable

__all__ = ["INPUTS", "output_meanings"]

INPUTS = {
    "question": "the question",
    "passages": "the passages; an empty string for a missing one",
    "style": "the style of the answer",
    "relevance": "1 for each passage that is relevant, 0 for the others",
    "passage": "the passage",
    "answer": "the answer to ask about",
    "answer_start": "offset of its first character (code point); -1 for its first occurrence",
    "question_lemmas": "the lemma of each word of the question, single spaces between them",
    "passage_lemmas": "the lemma of each word of the passage",
    "passage_pos": "the part-of-speech tag of each word of the passage",
    "passage_ner": "the type of entity of each word of the passage",
}
# A text that is written word by word, with the source of each word.
ATTRIBUTED = {
    "answer": "the answer; see `words` for the normalisation of its words",
    "num_words": "number of its words; the per-word outputs are padded beyond",
    "words": "its words; those of the generation vocabulary are lower-cased and normalised (NFKC)",
    "sources": "the source of each word: vocabulary, question or passage",
    "source_texts": "each copied word as the question or passage writes it; empty for the others",
    "passage_indices": "index of the passage it was copied from; -1 for none",
    "starts": "offset of the first character (code point) in the question or passage; -1 for none",
    "ends": "offset after the last character; -1 for none",
    "mixture": "weights of vocabulary, question and passages at each word",
    "score": "log-probability of the words, length-penalised if so exported",
    "log_probability": "log-probability of the answer's words",
    "probability": "probability of the answer: the product of its words'",
    "finished": "false if the answer was cut at the greatest length",
    "alternatives": "the other hypotheses, best first",
    "alternative_scores": "their scores",
    "alternative_log_probabilities": "their log-probabilities",
    "alternative_finished": "false for each of them that was cut at the greatest length",
    "relevance": "relevance of each passage to the question, 0 to 1; 0 for a missing passage",
    "answerable_probability": "probability that the passages answer the question at all",
    "truncated": "true if the question or passages were longer, or more, than the model reads",
}
# The best spans of a passage.
SPANS = {
    "answer": "the best answer, as the passage writes it; empty for an empty passage",
    "start": "offset of its first character (code point) in the passage; -1 for none",
    "end": "offset after its last character; -1 for none",
    "probability": "its probability: the product of the probabilities of its two ends",
    "answers": "the best answers, best first; empty where there are fewer",
    "starts": "offset of the first character of each; -1 for none",
    "ends": "offset after the last character of each; -1 for none",
    "probabilities": "the probability of each",
    "step_begin": "each step's probabilities that the answer begins with a word of the window",
    "step_end": "likewise that it ends with it",
    "step_weights": "the share of each step in the result",
    "word_starts": "offsets of the window's words in the passage",
    "word_ends": "offsets after them",
    "truncated": "true if a text was longer than the model reads",
}
# The best spans of several passages.
READER_SPANS = {
    **SPANS,
    "answer": "the best answer, as its passage writes it; empty for no answer",
    "start": "offset of its first character (code point) in its passage; -1 for no answer",
    "probability": "its probability among all spans of all passages, or that of no answer",
    "starts": "offset of the first character of each in its passage; -1 for none",
    "answer_passages": "index of the passage of each",
    "answerable_probability": "1 minus the probability of no answer",
}
# Texts that are written word by word.
GENERATED = {
    "answer": "the best answer",
    "answers": "the answers, best first",
    "question": "the best question",
    "questions": "the questions, best first",
    "probabilities": "the probability of each text: the product of its words'",
    "log_probabilities": "the logarithm of each probability",
    "finished": "false for each text that was cut at the greatest length",
    "answer_start": "offset of the answer's first character (code point) in the passage",
    "truncated": "true if a text was longer than the model reads",
}
# A question about each candidate of a passage.
CANDIDATES = {
    **GENERATED,
    "answers": "the answer candidates, as the passage writes them",
    "answer_starts": "offset of each candidate; -1 where the passage has fewer",
    "questions": "the best question about each candidate",
}


def output_meanings(names: Iterable[str]) -> dict[str, str]:
    """Returns the meanings of a signature's outputs, by what kind of result they are.

    Args:
        names: iterable of str. Names of all outputs of the signature.

    Example:

    >>> output_meanings(["answer", "start", "end"])["answer"]
    'the best answer, as the passage writes it; empty for an empty passage'
    >>> output_meanings(["answer", "words"])["answer"]
    'the answer; see `words` for the normalisation of its words'
    """
    known = set(names)
    kinds = {"words": ATTRIBUTED, "answer_passages": READER_SPANS, "start": SPANS}
    kinds |= {"answer_starts": CANDIDATES}
    kinds |= dict.fromkeys(("relevance", "answerable_probability"), ATTRIBUTED)  # no decoder
    return next((kind for name, kind in kinds.items() if name in known), GENERATED)
