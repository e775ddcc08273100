"""CPU seconds of a program until the first training step of a small Masque, part by part.

    python -m benchmarks.first_step

The model has some 20,000 weights, so nearly all of the time is imports, tracing and the
optimisation of the graph, which a model of any size needs too.
"""

import time


class Laps:
    """CPU seconds since the last call."""

    def __init__(self) -> None:
        self.last = 0.0

    def __call__(self, part: str) -> None:
        now = time.process_time()
        print(f"{part:<42}{now - self.last:6.1f}", flush=True)
        self.last = now


def main() -> None:
    """Builds and trains the model for one step, and prints the parts."""
    lap = Laps()
    from tfmrc import data, models, preprocessing, training

    create, compile_arguments = models.Masque, training.masque
    features = preprocessing.MasquePreprocessor
    lap("imports")
    examples = list(data.load_corpus("train"))[:200]
    preprocessor = features.from_examples(
        examples, min_count=2, num_oov_buckets=16, num_passages=4, passage_length=60
    )
    batches = preprocessor.dataset(examples, batch_size=8, shuffle=True, repeat=True)
    lap("data and preprocessor")
    model = create(
        **preprocessor.model_kwargs(),
        word_dim=8, hidden_dim=16, num_heads=2, intermediate_dim=16, num_shared_blocks=1,
        num_question_blocks=1, num_passage_blocks=1, num_decoder_blocks=1,
    )  # fmt: skip
    model.compile(**compile_arguments(model=model, steps=10, warmup_steps=2))
    lap(f"model of {model.count_params():,} weights")
    model.fit(batches, epochs=1, steps_per_epoch=1, verbose=0)
    lap("first step: tracing, graph, computation")
    model.fit(batches, epochs=1, steps_per_epoch=1, verbose=0)
    lap("second `fit` of one step")


if __name__ == "__main__":
    main()
