"""Share of SQuAD's words with a pretrained vector by form of the word, and cost of the table.

python -m benchmarks.word_vector_coverage --vectors FILE --squad FILE
"""

import argparse
import json
import resource
import tempfile
import time
from collections import Counter
from pathlib import Path


def coverage(vectors, path):
    """Prints the shares of running words found by surface, by compared form, and by either."""
    import tensorflow as tf

    from tfmrc.text import Tokenizer

    texts = []
    for article in json.loads(Path(path).read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            texts.append(paragraph["context"])
            texts += [question["question"] for question in paragraph["qas"]]
    tokens = Tokenizer().tokenize(tf.constant(texts))
    pairs = zip(tokens.surface.values.numpy(), tokens.compared.values.numpy(), strict=True)
    counts = Counter((a.decode("utf-8", "replace"), b.decode()) for a, b in pairs)
    total = sum(counts.values())
    keys = vectors.keys
    tests = {
        "surface": lambda a, b: a in keys,
        "compared": lambda a, b: b in keys,
        "either": lambda a, b: a in keys or b in keys,
        "different vectors": lambda a, b: a in keys and b in keys and keys[a] != keys[b],
    }
    print(f"{path}: {total:,} words")
    for name, test in tests.items():
        share = sum(n for pair, n in counts.items() if test(*pair)) / total
        print(f"  {name:<18} {100 * share:.2f} %")


def table(vectors):
    """Prints time and memory of a vocabulary of all words."""
    import tensorflow as tf

    from tfmrc.text import Vocabulary

    def step(name, function):
        start = time.perf_counter()
        result = function()
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"  {name:<32} {time.perf_counter() - start:6.2f} s   peak {memory:,.0f} MB")
        return result

    compared = step("compared forms", lambda: list(vectors.compared))
    small = step("20,000 words", lambda: Vocabulary(compared[:20_000]))
    full = step("all words", lambda: small.with_vectors(vectors))
    print(f"  {full!r}")
    words = tf.constant((compared * 3)[:1_000_000])
    for name, vocabulary in (("20,000 words", small), ("all words", full)):
        vocabulary.lookup(words)
        step(f"1,000,000 lookups, {name}", lambda v=vocabulary: v.lookup(words))
    with tempfile.TemporaryDirectory() as folder:
        full.save(Path(folder) / "vocabulary.txt")
        print("  files", {path.name: path.stat().st_size for path in Path(folder).iterdir()})


def main():
    from tfmrc.encoders import load_word_vectors

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vectors", required=True)
    parser.add_argument("--squad", nargs="*", default=[])
    arguments = parser.parse_args()
    start = time.perf_counter()
    vectors = load_word_vectors(arguments.vectors)
    print(f"{vectors!r}, read in {time.perf_counter() - start:.2f} s")
    for path in arguments.squad:
        coverage(vectors, path)
    table(vectors)


if __name__ == "__main__":
    main()
